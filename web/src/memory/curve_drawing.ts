/** Allocated and reserved memory over time, as an SVG that is drawn anew when its size changes. */
import { element, replace, svg } from "../element";
import { formatBytes, formatTime } from "../format";
import type { Memory, StepMark } from "../protocol";
import { axisOf } from "../timeline/ticks";
import { type Box, areaPath, byteTicks, linear, pointAt, stepPath } from "./curve";

const EDGES = { left: 72, right: 12, top: 10, bottom: 24 };
const TICK_GAP = 110;

export class MemoryCurve {
  readonly drawing = svg("svg", { class: "memory-curve", tabindex: 0, role: "img", "aria-label": "Memory over time. Arrows move, Enter chooses the time." });
  private readonly readout = element("p", { class: "readout", "aria-live": "polite" });
  readonly node = element("div", { class: "curve" }, this.readout, this.drawing);
  private readonly resized = new ResizeObserver(() => this.draw());
  private memory: Memory | undefined;
  private steps: readonly StepMark[] = [];
  private end = 1;
  private pointed: number | null = null; // a time

  constructor(private readonly choose: (time: number) => void) {
    this.drawing.addEventListener("pointermove", (event) => this.point(this.timeAt(event)));
    this.drawing.addEventListener("pointerleave", () => this.point(null));
    this.drawing.addEventListener("blur", () => this.point(null));
    this.drawing.addEventListener("click", (event) => this.choose(this.timeAt(event)));
    this.drawing.addEventListener("keydown", (event) => this.keyDown(event));
    this.resized.observe(this.drawing);
  }

  show(memory: Memory, steps: readonly StepMark[], end: number): void {
    this.memory = memory;
    this.steps = steps;
    this.end = Math.max(end, memory.time_ns.at(-1) ?? 0, 1);
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

  private timeAt(event: MouseEvent): number {
    const { left, width } = this.box;
    const share = (event.clientX - this.drawing.getBoundingClientRect().left - left) / width;
    return Math.round(Math.max(0, Math.min(1, share)) * this.end);
  }

  private point(time: number | null): void {
    this.pointed = time;
    const { memory, box } = this;
    if (memory === undefined) return;
    const at = pointAt(memory.time_ns, time ?? memory.at_ns);
    const reserved = memory.reserved_bytes[at] ?? null;
    const kinds = [`${formatBytes(memory.allocated_bytes[at] ?? 0)} allocated`, reserved === null ? "" : `${formatBytes(reserved)} reserved`];
    this.readout.textContent = `At ${formatTime(time ?? memory.at_ns)}: ${kinds.filter((text) => text !== "").join(", ")}.`;
    const line = this.drawing.querySelector(".pointer-line");
    const x = linear(0, this.end, box.left, box.left + box.width)(time ?? 0);
    line?.setAttribute("x1", String(x));
    line?.setAttribute("x2", String(x));
    line?.setAttribute("visibility", time === null ? "hidden" : "visible");
  }

  private keyDown(event: KeyboardEvent): void {
    const { memory } = this;
    if (memory === undefined) return;
    const at = pointAt(memory.time_ns, this.pointed ?? memory.at_ns);
    const towards = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (towards !== 0) this.point(memory.time_ns[Math.max(0, Math.min(memory.time_ns.length - 1, at + towards))] ?? null);
    else if (event.key === "Enter" && this.pointed !== null) this.choose(this.pointed);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const { memory, box, end } = this;
    if (memory === undefined) return;
    const bottom = box.top + box.height;
    const right = box.left + box.width;
    const highest = [...memory.allocated_bytes, ...memory.reserved_bytes].reduce<number>((most, bytes) => Math.max(most, bytes ?? 0), 1) * 1.06;
    const x = linear(0, end, box.left, right);
    const y = linear(0, highest, bottom, box.top);
    const line = (name: string, time: number): SVGElement => svg("line", { class: name, x1: x(time), x2: x(time), y1: box.top, y2: bottom });
    this.drawing.setAttribute("viewBox", `0 0 ${right + EDGES.right} ${this.height}`);
    replace(
      this.drawing,
      ...byteTicks(highest, 5).flatMap((bytes) => [
        svg("line", { class: "grid", x1: box.left, x2: right, y1: y(bytes), y2: y(bytes) }),
        svg("text", { class: "tick", x: box.left - 8, y: y(bytes) + 4, "text-anchor": "end" }, formatBytes(bytes)),
      ]),
      ...axisOf(0, end, box.width, TICK_GAP).ticks.map(({ time, label }) => svg("text", { class: "tick", x: x(time), y: this.height - 6, "text-anchor": time === 0 ? "start" : "middle" }, label)),
      ...this.steps.slice(0, 400).map(({ start_ns }) => line("step-line", start_ns)),
      svg("path", { class: "allocated", d: areaPath(memory.time_ns, memory.allocated_bytes, end, x, y) }),
      svg("path", { class: "allocated-line", d: stepPath(memory.time_ns, memory.allocated_bytes, end, x, y) }),
      svg("path", { class: "reserved", d: stepPath(memory.time_ns, memory.reserved_bytes, end, x, y) }),
      line("at-line", memory.at_ns),
      svg("line", { class: "pointer-line", y1: box.top, y2: bottom, visibility: "hidden" }),
    );
  }
}
