/**
 * The typical step as a picture to move and zoom in, in place of the fixed one. Keys work while it has the focus; the
 * wheel alone scrolls the report, as everywhere.
 */
import { element } from "../element.js";
import { formatCount, formatTime } from "../format.js";
import { type Inks, Picture, inksOf } from "./drawing.js";
import { type Row, heightOf, rowAt, rowsOf } from "./layout.js";
import { type Range, around, moved, zoomed } from "./range.js";
import { type FoundPlaces, type Span, type Step, spanAt } from "./step.js";

const PIXELS_NEAR = 3;
const LEAST_DRAG = 3;
const MOVE_SHARE = 0.2;
const ZOOM_IN = 0.6;
const HINT = "Drag to move, Ctrl + wheel to zoom, double-click to zoom to something. With the picture in focus: arrow keys, + and −, 0 for all.";

export class Timeline {
  readonly root: HTMLElement;
  private readonly rows: Row[];
  private readonly canvas = element("canvas", { tabindex: 0, role: "img" });
  private readonly readout = element("p", { class: "readout", role: "status" }, HINT);
  private readonly tip = element("div", { class: "tip", hidden: true });
  private readonly room = element("div", { class: "room" }, this.canvas, this.tip);
  private range: Range;
  private inks: Inks | null = null;
  private selected: Span | null = null;
  private marked: number | null = null;
  private shownPlace = 0;
  private isFrameDue = false;

  constructor(private readonly step: Step) {
    this.rows = rowsOf(step);
    this.range = { start: 0, end: step.length };
    this.canvas.setAttribute("aria-label", `A typical step, ${formatTime(step.length)}. Arrow keys move, plus and minus zoom.`);
    const names = element("div", { class: "names" }, ...this.rows.map((row) => this.nameOf(row)));
    this.root = element(
      "div",
      { class: "timeline" },
      this.buttons(),
      element("div", { class: "picture" }, names, this.room),
      this.readout,
    );
    this.canvas.style.height = `${String(heightOf(this.rows))}px`;
    this.listen();
  }

  /** Goes to a place of a finding; to the next one when asked again. */
  show(finding: FoundPlaces): void {
    const isAgain = this.marked === finding.number;
    this.marked = finding.number;
    this.shownPlace = isAgain ? (this.shownPlace + 1) % finding.places.length : 0;
    const place = finding.places[this.shownPlace];
    if (!place) return;
    this.selected = null;
    const which = finding.places.length === 1 ? "" : `place ${formatCount(this.shownPlace + 1)} of ${formatCount(finding.places.length)}, `;
    this.readout.textContent = `${String(finding.number)}  ${finding.title}: ${which}${formatTime(place.end - place.start)} at ${formatTime(place.start)}`;
    this.look(around(place.start, place.end, this.step.length));
  }

  private nameOf(row: Row): HTMLElement {
    const style = { top: `${String(row.top)}px`, height: `${String(row.height)}px` };
    if (!("finding" in row.content)) return element("span", { style, title: row.label }, row.label);
    const { finding } = row.content;
    return element("button", { type: "button", style, title: finding.title, on: { click: () => { this.show(finding); } } }, row.label);
  }

  private buttons(): HTMLElement {
    const button = (text: string, label: string, press: () => void): HTMLElement =>
      element("button", { type: "button", "aria-label": label, title: label, on: { click: press } }, text);
    return element(
      "div",
      { class: "buttons" },
      button("−", "Zoom out", () => { this.zoom(1 / ZOOM_IN); }),
      button("+", "Zoom in", () => { this.zoom(ZOOM_IN); }),
      button("All", "Show the whole step", () => { this.showAll(); }),
    );
  }

  private look(range: Range): void {
    this.range = range;
    this.tip.hidden = true;
    this.redraw();
  }

  private zoom(factor: number, time = (this.range.start + this.range.end) / 2): void {
    this.look(zoomed(this.range, time, factor, this.step.length));
  }

  private move(share: number): void {
    this.look(moved(this.range, share * (this.range.end - this.range.start), this.step.length));
  }

  private showAll(): void {
    this.marked = null;
    this.look({ start: 0, end: this.step.length });
  }

  private redraw(): void {
    if (this.isFrameDue) return;
    this.isFrameDue = true;
    requestAnimationFrame(() => {
      this.isFrameDue = false;
      this.draw();
    });
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    const width = this.canvas.clientWidth;
    if (!context || width === 0) return;
    const height = heightOf(this.rows);
    const scale = window.devicePixelRatio;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.inks ??= inksOf(this.step.works, this.root);
    new Picture(context, this.rows, this.range, this.step.length, width, this.inks).draw(this.selected, this.marked);
  }

  private timePerPixel(): number {
    return (this.range.end - this.range.start) / Math.max(1, this.canvas.clientWidth);
  }

  private timeAt(x: number): number {
    return this.range.start + x * this.timePerPixel();
  }

  private spanUnder(x: number, y: number): { span: Span; row: Row } | null {
    const row = rowAt(this.rows, y);
    if (!row || !("lane" in row.content)) return null;
    const span = spanAt(row.content.lane.spans, this.timeAt(x), PIXELS_NEAR * this.timePerPixel());
    return span && { span, row };
  }

  /** "matmul, 20.0 ms at 3.10 ms" */
  private factsOf(span: Span): string {
    const label = this.step.works[span.work]?.label ?? "";
    const at = `at ${formatTime(span.start)}`;
    if (span.events === 1) return `${label}, ${formatTime(span.busy)} ${at}`;
    return `${label}, ${formatCount(span.events)} events, ${formatTime(span.busy)} busy of ${formatTime(span.end - span.start)} ${at}`;
  }

  private hover(x: number, y: number): void {
    const under = this.spanUnder(x, y);
    this.tip.hidden = under === null;
    if (!under) return;
    const { span, row } = under;
    this.tip.replaceChildren(
      ...(span.name ? [element("b", {}, span.events === 1 ? span.name : `${span.name} and others`)] : []),
      element("span", {}, this.factsOf(span)),
    );
    const isLeft = x > this.canvas.clientWidth / 2;
    this.tip.style.left = isLeft ? "auto" : `${String(x + 14)}px`;
    this.tip.style.right = isLeft ? `${String(this.canvas.clientWidth - x + 14)}px` : "auto";
    this.tip.style.top = `${String(row.top + row.height + 4)}px`;
  }

  private select(x: number, y: number): void {
    const under = this.spanUnder(x, y);
    this.selected = under ? under.span : null;
    this.readout.textContent = under ? `${under.span.name ? `${under.span.name}: ` : ""}${this.factsOf(under.span)}` : HINT;
    this.redraw();
  }

  private listen(): void {
    const { canvas } = this;
    let grabbed: { x: number; range: Range } | null = null;
    let isDragged = false;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      grabbed = { x: event.offsetX, range: this.range };
      isDragged = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!grabbed) {
        this.hover(event.offsetX, event.offsetY);
        return;
      }
      const by = grabbed.x - event.offsetX;
      isDragged ||= Math.abs(by) >= LEAST_DRAG;
      if (isDragged) this.look(moved(grabbed.range, by * this.timePerPixel(), this.step.length));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (grabbed && !isDragged) this.select(event.offsetX, event.offsetY);
      grabbed = null;
    });
    canvas.addEventListener("pointercancel", () => { grabbed = null; });
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => {
      const under = this.spanUnder(event.offsetX, event.offsetY);
      if (under) this.look(around(under.span.start, under.span.end, this.step.length));
      else this.zoom(ZOOM_IN, this.timeAt(event.offsetX));
    });
    canvas.addEventListener("wheel", (event) => { this.wheel(event); }, { passive: false });
    canvas.addEventListener("keydown", (event) => { this.key(event); });
    new ResizeObserver(() => { this.redraw(); }).observe(this.room);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.inks = null;
      this.redraw();
    });
  }

  private wheel(event: WheelEvent): void {
    const isZoom = event.ctrlKey || event.metaKey;
    const along = event.shiftKey ? event.deltaY : event.deltaX;
    if (!isZoom && Math.abs(along) <= (event.shiftKey ? 0 : Math.abs(event.deltaY))) return;
    event.preventDefault();
    if (isZoom) this.zoom(Math.exp(Math.max(-80, Math.min(80, event.deltaY)) / 200), this.timeAt(event.offsetX));
    else this.look(moved(this.range, along * this.timePerPixel(), this.step.length));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => { this.move(-MOVE_SHARE); },
      a: () => { this.move(-MOVE_SHARE); },
      ArrowRight: () => { this.move(MOVE_SHARE); },
      d: () => { this.move(MOVE_SHARE); },
      "+": () => { this.zoom(ZOOM_IN); },
      "=": () => { this.zoom(ZOOM_IN); },
      w: () => { this.zoom(ZOOM_IN); },
      "-": () => { this.zoom(1 / ZOOM_IN); },
      s: () => { this.zoom(1 / ZOOM_IN); },
      "0": () => { this.showAll(); },
    };
    const press = keys[event.key];
    if (!press) return;
    event.preventDefault();
    press();
  }
}
