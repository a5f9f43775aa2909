/**
 * A device's memory over time, its categories stacked, as an SVG that is drawn anew when its size changes. A click
 * chooses a time, a drag a part of the curve.
 */
import { colorStyle } from "../colors";
import { element, replace, svg } from "../element";
import { formatBytes, formatShare, formatTime } from "../format";
import type { Memory, StepMark } from "../protocol";
import { axisOf } from "../timeline/ticks";
import { type Box, bandPath, byteTicks, layerAt, linear, nearest, pointAt, stacked, stepPath } from "./curve";

const EDGES = { left: 72, right: 12, top: 10, bottom: 24 };
const TICK_GAP = 110;
const LABEL_REACH = 30; // half of the longest label of a time
const LEAST_DRAG = 4; // pixels; below it, it is a click

export interface CurveRange {
  start: number;
  end: number;
}

export interface CurveActions {
  choose: (time: number) => void;
  zoom: (range: CurveRange) => void;
  zoomOut: () => void;
}

export class MemoryCurve {
  readonly drawing = svg("svg", { class: "memory-curve", tabindex: 0, role: "img", "aria-label": "Memory over time by category. Arrows move, Enter chooses the time, Home shows everything." });
  private readonly readout = element("p", { class: "readout", "aria-live": "polite" });
  private readonly keys = element("ul", { class: "curve-keys", "aria-label": "Categories then" });
  private readonly tip = element("div", { class: "tooltip", role: "tooltip", hidden: true });
  readonly node = element("div", { class: "curve" }, this.readout, this.keys, this.drawing, this.tip);
  private readonly resized = new ResizeObserver(() => this.draw());
  private memory: Memory | undefined;
  private tops: number[][] = [];
  private steps: readonly StepMark[] = [];
  private range: CurveRange = { start: 0, end: 1 };
  private pointed: number | null = null; // a time
  private pressed: number | null = null; // where a drag began, in pixels

  constructor(private readonly actions: CurveActions) {
    this.drawing.addEventListener("pointermove", (event) => this.move(event));
    this.drawing.addEventListener("pointerleave", () => this.point(null));
    this.drawing.addEventListener("blur", () => this.point(null));
    this.drawing.addEventListener("pointerdown", (event) => this.press(event));
    this.drawing.addEventListener("pointerup", (event) => this.release(event));
    this.drawing.addEventListener("pointercancel", () => this.endDrag());
    this.drawing.addEventListener("dblclick", () => this.actions.zoomOut());
    this.drawing.addEventListener("keydown", (event) => this.keyDown(event));
    this.resized.observe(this.drawing);
  }

  show(memory: Memory, steps: readonly StepMark[], range: CurveRange): void {
    this.memory = memory;
    this.tops = stacked(memory.layers.map(({ bytes }) => bytes));
    this.steps = steps;
    this.range = range;
    this.draw();
    this.point(null);
  }

  close(): void {
    this.resized.disconnect();
  }

  private get height(): number {
    return Math.max(100, this.drawing.clientHeight);
  }

  private get box(): Box {
    const width = Math.max(200, this.drawing.clientWidth);
    return { left: EDGES.left, top: EDGES.top, width: width - EDGES.left - EDGES.right, height: this.height - EDGES.top - EDGES.bottom };
  }

  private get highest(): number {
    const { memory } = this;
    if (memory === undefined) return 1;
    return [...memory.allocated_bytes, ...memory.reserved_bytes].reduce<number>((most, bytes) => Math.max(most, bytes ?? 0), 1) * 1.06;
  }

  /** The nearest time to the pointer of which the curve knows the amounts: what it says and what a click chooses. */
  private knownTimeAt(event: MouseEvent): number {
    const times = this.memory?.time_ns ?? [];
    const time = this.timeAt(event);
    return nearest(times, time) ?? time;
  }

  private timeAt(event: MouseEvent): number {
    const { left, width } = this.box;
    const share = (event.clientX - this.drawing.getBoundingClientRect().left - left) / width;
    const { start, end } = this.range;
    return Math.round(start + Math.max(0, Math.min(1, share)) * (end - start));
  }

  private move(event: PointerEvent): void {
    const { memory, box } = this;
    if (memory === undefined) return;
    const time = this.knownTimeAt(event);
    this.point(time);
    this.dragTo(event);
    const amount = linear(box.top + box.height, box.top, 0, this.highest)(event.clientY - this.drawing.getBoundingClientRect().top);
    const at = pointAt(memory.time_ns, time);
    this.showTip(at, layerAt(this.tops, at, amount));
    const room = this.node.getBoundingClientRect();
    const x = event.clientX - room.left;
    const left = x + 16 + this.tip.offsetWidth > room.width ? x - this.tip.offsetWidth - 12 : x + 16;
    this.tip.style.transform = `translate(${Math.max(0, Math.round(left))}px, ${Math.round(event.clientY - room.top + 14)}px)`;
  }

  /** The category under the pointer, and the largest tensors that stand there then. */
  private showTip(at: number, layer: number | null): void {
    const { memory } = this;
    const pointed = layer === null ? undefined : memory?.layers[layer];
    this.tip.hidden = memory === undefined || pointed === undefined;
    for (const path of this.drawing.querySelectorAll("path[data-category]")) path.classList.toggle("pointed", path.getAttribute("data-category") === pointed?.category);
    if (memory === undefined || pointed === undefined) return;
    const bytes = pointed.bytes[at] ?? 0;
    const tensors = (memory.largest[at] ?? []).flatMap((place) => memory.tensors[place] ?? []);
    replace(
      this.tip,
      element("b", {}, `${pointed.words}: ${formatBytes(bytes)}, ${formatShare(bytes / Math.max(1, memory.allocated_bytes[at] ?? 0))}`),
      tensors.length > 0 && element("span", {}, "The largest that stand there:"),
      ...tensors.map(({ bytes: size, maker }) => element("span", { class: "tensor" }, `${formatBytes(size)} ${maker}`)),
    );
  }

  private point(time: number | null): void {
    this.pointed = time;
    const { memory, box } = this;
    if (memory === undefined) return;
    if (time === null) this.showTip(0, null);
    const shown = time ?? memory.at.time_ns;
    const isInRange = shown >= this.range.start && shown <= this.range.end;
    const at = pointAt(memory.time_ns, shown);
    const allocated = time === null ? memory.at.allocated_bytes : (memory.allocated_bytes[at] ?? 0);
    const reserved = time === null ? memory.at.reserved_bytes : (memory.reserved_bytes[at] ?? null);
    this.readout.textContent = `At ${formatTime(shown)}: ${formatBytes(allocated)} allocated${reserved === null ? "" : `, ${formatBytes(reserved)} reserved`}.`;
    replace(
      this.keys,
      ...memory.layers.map(({ words, color, bytes, category }) => {
        const then = time === null ? memory.at.categories.find((row) => row.category === category)?.bytes : bytes[at];
        return element("li", {}, element("span", { class: "key", style: colorStyle(color) }), `${words} `, element("b", {}, formatBytes(then ?? 0)));
      }),
      memory.reserved_bytes.some((bytes) => bytes !== null) && element("li", {}, element("span", { class: "swatch reserved" }), "reserved"),
      this.steps.length > 0 && element("li", {}, element("span", { class: "swatch step-line" }), "starts of steps"),
    );
    const line = this.drawing.querySelector(".pointer-line");
    const x = linear(this.range.start, this.range.end, box.left, box.left + box.width)(shown);
    line?.setAttribute("x1", String(x));
    line?.setAttribute("x2", String(x));
    line?.setAttribute("visibility", time === null || !isInRange ? "hidden" : "visible");
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.pressed = event.clientX;
    this.drawing.setPointerCapture(event.pointerId);
  }

  private release(event: PointerEvent): void {
    const from = this.pressed;
    this.endDrag();
    if (from === null) return;
    const to = this.timeAt(event);
    if (Math.abs(event.clientX - from) < LEAST_DRAG) {
      this.actions.choose(this.knownTimeAt(event));
      return;
    }
    const began = this.timeAt(new MouseEvent("click", { clientX: from }));
    if (began !== to) this.actions.zoom({ start: Math.min(began, to), end: Math.max(began, to) });
  }

  private dragTo(event: PointerEvent): void {
    if (this.pressed === null) return;
    const { box } = this;
    const room = this.drawing.getBoundingClientRect();
    const inside = (x: number): number => Math.max(box.left, Math.min(box.left + box.width, x - room.left));
    const [from, to] = [inside(this.pressed), inside(event.clientX)];
    const dragged = this.drawing.querySelector(".dragged");
    dragged?.setAttribute("x", String(Math.min(from, to)));
    dragged?.setAttribute("width", String(Math.abs(to - from)));
    dragged?.setAttribute("visibility", "visible");
  }

  private endDrag(): void {
    this.pressed = null;
    this.drawing.querySelector(".dragged")?.setAttribute("visibility", "hidden");
  }

  private keyDown(event: KeyboardEvent): void {
    const { memory } = this;
    if (memory === undefined) return;
    const at = pointAt(memory.time_ns, this.pointed ?? memory.at.time_ns);
    const towards = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (towards !== 0) this.point(memory.time_ns[Math.max(0, Math.min(memory.time_ns.length - 1, at + towards))] ?? null);
    else if (event.key === "Enter" && this.pointed !== null) this.actions.choose(this.pointed);
    else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
    else if (event.key === "-") this.zoomBy(2);
    else if (event.key === "Home") this.actions.zoomOut();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Around the time that is pointed at, or that was chosen. */
  private zoomBy(factor: number): void {
    const { start, end } = this.range;
    const middle = Math.max(start, Math.min(end, this.pointed ?? this.memory?.at.time_ns ?? start));
    const from = Math.round(middle - (middle - start) * factor);
    this.actions.zoom({ start: from, end: Math.max(from + 1, Math.round(middle + (end - middle) * factor)) });
  }

  private draw(): void {
    const { memory, box, tops, highest } = this;
    const { start, end } = this.range;
    if (memory === undefined) return;
    const bottom = box.top + box.height;
    const right = box.left + box.width;
    const x = linear(start, end, box.left, right);
    const y = linear(0, highest, bottom, box.top);
    const line = (name: string, time: number): SVGElement => svg("line", { class: name, x1: x(time), x2: x(time), y1: box.top, y2: bottom });
    // A label in the middle of what it names would reach out of the picture at either end.
    const anchor = (at: number): string => (at <= box.left ? "start" : at > right - LABEL_REACH ? "end" : "middle");
    const isInRange = (time: number): boolean => time >= start && time <= end;
    this.drawing.setAttribute("viewBox", `0 0 ${right + EDGES.right} ${this.height}`);
    replace(
      this.drawing,
      ...byteTicks(highest, 5).flatMap((bytes) => [
        svg("line", { class: "grid", x1: box.left, x2: right, y1: y(bytes), y2: y(bytes) }),
        svg("text", { class: "tick", x: box.left - 8, y: y(bytes) + 4, "text-anchor": "end" }, formatBytes(bytes)),
      ]),
      ...axisOf(start, end, box.width, TICK_GAP).ticks.map(({ time, label }) => svg("text", { class: "tick", x: x(time), y: this.height - 6, "text-anchor": anchor(x(time)) }, label)),
      ...memory.layers.map(({ color, category }, i) =>
        svg("path", { class: "layer", "data-category": category, style: colorStyle(color), d: bandPath(memory.time_ns, tops[i - 1], tops[i] ?? [], end, x, y) }),
      ),
      ...this.steps.filter(({ start_ns }) => isInRange(start_ns)).slice(0, 400).map(({ start_ns }) => line("step-line", start_ns)),
      svg("path", { class: "reserved", d: stepPath(memory.time_ns, memory.reserved_bytes, end, x, y) }),
      isInRange(memory.at.time_ns) && line("at-line", memory.at.time_ns),
      svg("line", { class: "pointer-line", y1: box.top, y2: bottom, visibility: "hidden" }),
      svg("rect", { class: "dragged", y: box.top, height: box.height, visibility: "hidden" }),
    );
  }
}
