/**
 * Writes down as SVG what is painted with it: a canvas's painting code makes a file of vectors. Rectangles of one color
 * that follow each other become one path, since a picture has tens of thousands. No DOM here.
 */
import type { Pen } from "./pen";

interface State {
  fillStyle: Pen["fillStyle"];
  strokeStyle: Pen["strokeStyle"];
  globalAlpha: number;
  lineWidth: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  scale: number;
  x: number; // where the origin is
  y: number;
  groups: number; // that clip it, since it was saved
}

/** How far below the given height the letters stand, in their size: not all programs know the baselines of SVG. */
const BASELINES: Partial<Record<CanvasTextBaseline, number>> = { middle: 0.35, top: 0.85 };
const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: "middle", right: "end", end: "end" };

export class SvgPen implements Pen {
  private state: State = {
    fillStyle: "#000", strokeStyle: "#000", globalAlpha: 1, lineWidth: 1, font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic",
    scale: 1, x: 0, y: 0, groups: 0,
  };
  private readonly saved: State[] = [];
  private readonly patterns = new Map<unknown, string>();
  private readonly definitions: string[] = [];
  private readonly parts: string[] = [];
  private path = "";
  private rectangles: { look: string; path: string } = { look: "", path: "" };

  /** The file; width and height in pixels of the page, `ratio` of ours for each of them. */
  file(width: number, height: number, ratio: number): string {
    this.flush();
    const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width * ratio)} ${n(height * ratio)}">`;
    return [head, `<defs>${this.definitions.join("")}</defs>`, ...this.parts, "</svg>\n"].join("\n");
  }

  get fillStyle(): Pen["fillStyle"] { return this.state.fillStyle; }
  set fillStyle(style: Pen["fillStyle"]) { this.state.fillStyle = style; }
  get strokeStyle(): Pen["strokeStyle"] { return this.state.strokeStyle; }
  set strokeStyle(style: Pen["strokeStyle"]) { this.state.strokeStyle = style; }
  get globalAlpha(): number { return this.state.globalAlpha; }
  set globalAlpha(alpha: number) { this.state.globalAlpha = alpha; }
  get lineWidth(): number { return this.state.lineWidth; }
  set lineWidth(width: number) { this.state.lineWidth = width; }
  get font(): string { return this.state.font; }
  set font(font: string) { this.state.font = font; }
  get textAlign(): CanvasTextAlign { return this.state.textAlign; }
  set textAlign(align: CanvasTextAlign) { this.state.textAlign = align; }
  get textBaseline(): CanvasTextBaseline { return this.state.textBaseline; }
  set textBaseline(baseline: CanvasTextBaseline) { this.state.textBaseline = baseline; }

  save(): void {
    this.saved.push({ ...this.state });
    this.state.groups = 0;
  }

  restore(): void {
    const earlier = this.saved.pop();
    if (!earlier) return;
    this.flush();
    for (let group = 0; group < this.state.groups; ++group) this.parts.push("</g>");
    this.state = earlier;
  }

  /** Even in both directions, and moved; nothing else is painted here. */
  setTransform(scale?: DOMMatrix2DInit | number, _b?: number, _c?: number, _d?: number, x?: number, y?: number): void {
    Object.assign(this.state, { scale: typeof scale === "number" ? scale : 1, x: x ?? 0, y: y ?? 0 });
  }

  /** Of a small canvas, which the file holds as a picture. */
  createPattern(image: CanvasImageSource): CanvasPattern | null {
    const tile = image as HTMLCanvasElement;
    const pattern = {};
    const id = `p${this.patterns.size}`;
    this.patterns.set(pattern, `url(#${id})`);
    const size = `width="${n(tile.width)}" height="${n(tile.height)}"`;
    this.definitions.push(`<pattern id="${id}" ${size} patternUnits="userSpaceOnUse"><image ${size} href="${tile.toDataURL()}"/></pattern>`);
    return pattern as CanvasPattern;
  }

  beginPath(): void { this.path = ""; }
  moveTo(x: number, y: number): void { this.path += `M${this.at(x, y)}`; }
  lineTo(x: number, y: number): void { this.path += `L${this.at(x, y)}`; }
  closePath(): void { this.path += "Z"; }
  rect(x: number, y: number, width: number, height: number): void { this.path += this.rectangle(x, y, width, height); }
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path += `C${this.at(x1, y1)} ${this.at(x2, y2)} ${this.at(x, y)}`;
  }
  roundRect(x: number, y: number, width: number, height: number, radius?: number | DOMPointInit | Iterable<number | DOMPointInit>): void {
    const { scale } = this.state;
    const [w, h] = [width * scale, height * scale];
    const r = Math.min((typeof radius === "number" ? radius : 0) * scale, w / 2, h / 2);
    const corner = (dx: number, dy: number): string => `a${n(r)},${n(r)},0,0,1,${n(dx)},${n(dy)}`;
    this.path += `M${this.at(x, y + r / scale)}${corner(r, -r)}h${n(w - 2 * r)}${corner(r, r)}v${n(h - 2 * r)}${corner(-r, r)}h${n(2 * r - w)}${corner(-r, -r)}Z`;
  }

  clip(): void {
    this.flush();
    const id = `c${this.definitions.length}`;
    this.definitions.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.parts.push(`<g clip-path="url(#${id})">`);
    ++this.state.groups;
  }

  fill(): void {
    this.put(`<path ${this.look("fill", this.state.fillStyle)} d="${this.path}"/>`);
  }

  stroke(): void {
    this.put(`<path fill="none" ${this.strokeLook()} d="${this.path}"/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    if (!(width > 0 && height > 0)) return;
    const look = this.look("fill", this.state.fillStyle);
    if (look !== this.rectangles.look) this.flush();
    this.rectangles.look = look;
    this.rectangles.path += this.rectangle(x, y, width, height);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.put(`<path fill="none" ${this.strokeLook()} d="${this.rectangle(x, y, width, height)}"/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const [, weight = "400", size = "10", family = "sans-serif"] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.state.font) ?? [];
    const shift = Number(size) * (BASELINES[this.state.textBaseline] ?? 0);
    const place = this.at(x, y + shift).split(",");
    const look = [
      `x="${place[0] ?? "0"}" y="${place[1] ?? "0"}" font-family="${escaped(family)}" font-size="${n(Number(size) * this.state.scale)}"`,
      weight === "400" ? "" : `font-weight="${weight}"`,
      ANCHORS[this.state.textAlign] ? `text-anchor="${ANCHORS[this.state.textAlign] ?? ""}"` : "",
      this.look("fill", this.state.fillStyle),
    ];
    this.put(`<text ${look.filter((each) => each !== "").join(" ")} xml:space="preserve">${escaped(text)}</text>`);
  }

  private put(part: string): void {
    this.flush();
    this.parts.push(part);
  }

  private flush(): void {
    if (this.rectangles.path !== "") this.parts.push(`<path ${this.rectangles.look} d="${this.rectangles.path}"/>`);
    this.rectangles = { look: "", path: "" };
  }

  private at(x: number, y: number): string {
    return `${n(x * this.state.scale + this.state.x)},${n(y * this.state.scale + this.state.y)}`;
  }

  private rectangle(x: number, y: number, width: number, height: number): string {
    const { scale } = this.state;
    return `M${this.at(x, y)}h${n(width * scale)}v${n(height * scale)}h${n(-width * scale)}Z`;
  }

  private strokeLook(): string {
    return `${this.look("stroke", this.state.strokeStyle)} stroke-width="${n(this.state.lineWidth * this.state.scale)}"`;
  }

  private look(what: "fill" | "stroke", style: Pen["fillStyle"]): string {
    const color = typeof style === "string" ? style : (this.patterns.get(style) ?? "none");
    return this.state.globalAlpha === 1 ? `${what}="${escaped(color)}"` : `${what}="${escaped(color)}" ${what}-opacity="${n(this.state.globalAlpha)}"`;
  }
}

function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Names in a trace are whatever their author wrote: text here, too, and without what no XML may hold. */
function escaped(text: string): string {
  const replaced = text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[letter] ?? "&quot;");
  return replaced.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}
