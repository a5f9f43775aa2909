/** The browser's own scrollbar for tracks, also where they are higher than an element can be. */
import { element } from "../element";

const HIGHEST = 4_000_000; // CSS pixels that every browser can lay out

/** What is scrolled: where it is on the screen, and how far it can be scrolled. In CSS pixels. */
export interface Scrolled {
  top: number;
  room: number;
  largest: number;
  scroll: number;
}

export class Scrollbar {
  private readonly inside = element("div");
  readonly node = element("div", { class: "track-scroll", tabindex: -1, "aria-hidden": "true" }, this.inside);
  private own = 0; // the position that is known: its event is not the user's
  private shape = ""; // as laid out: asking the browser for it in each frame would make it lay out again

  constructor(private readonly now: () => Scrolled, set: (scroll: number) => void) {
    this.node.addEventListener("scroll", () => {
      if (Math.abs(this.node.scrollTop - this.own) < 1) return;
      this.own = this.node.scrollTop;
      set(this.own * factorOf(this.now()));
    });
  }

  update(): void {
    const now = this.now();
    const shape = `${now.top} ${now.room} ${now.largest}`;
    const isOther = shape !== this.shape;
    if (isOther) {
      this.shape = shape;
      this.node.hidden = now.room === 0;
      this.node.style.top = `${now.top}px`;
      this.node.style.height = `${now.room}px`;
      this.inside.style.height = `${Math.min(HIGHEST, now.room + now.largest)}px`;
    }
    const position = now.scroll / factorOf(now);
    if (!isOther && Math.abs(position - this.own) < 1) return;
    this.own = Math.round(position);
    this.node.scrollTop = this.own;
  }
}

/** Of the tracks' scroll to the element's. */
function factorOf({ room, largest }: Scrolled): number {
  const ofElement = Math.min(HIGHEST, room + largest) - room;
  return ofElement > 0 ? largest / ofElement : 1;
}
