/**
 * Names that fit into what is there for them. Letters are measured once each, by what is given from outside, and texts
 * are sums of letters: a frame that cuts a thousand names anew measures nothing. No DOM here.
 */

const LONGEST = 400; // letters; nothing wider is ever shown
const KEPT = 20_000; // texts
const LEAST_LETTERS = 2;
const IN_FRONT = /^autograd::engine::evaluate_function: |^idle: |^\S+\.py\(\d+\): (?!<module>)|^\S+\/(?=\S+: <module>)|^void (?=\S*::)/;

export class TextFit {
  private readonly letters = new Map<string, number>();
  private readonly widths = new Map<string, number>();
  private readonly own = new Map<string, string>();

  constructor(private readonly measure: (letter: string) => number) {}

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = 0;
      for (const letter of text) width += this.letter(letter);
      if (this.widths.size >= KEPT) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }

  /** A name, or what is its own in it ("aten::linear": "linear"), cut where that does not fit either. */
  fitName(name: string, room: number): string {
    if (name.length <= LONGEST && this.width(name) <= room) return name;
    let own = this.own.get(name);
    if (own === undefined) {
      if (this.own.size >= KEPT) this.own.clear();
      this.own.set(name, (own = ownPart(name.slice(0, LONGEST))));
    }
    return this.fit(own, room);
  }

  /** The text, or its beginning with "…"; empty where not even two letters fit. */
  fit(text: string, room: number): string {
    const shown = text.length > LONGEST ? text.slice(0, LONGEST) : text;
    if (this.width(shown) <= room) return shown;
    let left = room - this.letter("…");
    let end = 0;
    let letters = 0;
    for (const letter of shown) {
      left -= this.letter(letter);
      if (left < 0) break;
      end += letter.length;
      ++letters;
    }
    return letters >= LEAST_LETTERS ? `${shown.slice(0, end)}…` : "";
  }

  private letter(letter: string): number {
    let width = this.letters.get(letter);
    if (width === undefined) this.letters.set(letter, (width = this.measure(letter)));
    return width;
  }
}

/** Without files, return types, namespaces and what the autograd engine puts in front: what tells a name from others. */
export function ownPart(name: string): string {
  const inner = name.replace(IN_FRONT, "") || name;
  const end = inner.search(/[<( ]/);
  const head = end < 0 ? inner : inner.slice(0, end);
  const at = head.lastIndexOf("::");
  return at < 0 || at + 2 >= head.length ? inner : inner.slice(at + 2);
}
