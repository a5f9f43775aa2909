/** The roofline as an SVG: ceilings by precision, a dot for each kernel, larger where it takes more of the step. */
import { colorStyle } from "../colors";
import { element, replace, svg } from "../element";
import { formatFlops, formatBytes, formatNumber, formatPercent, formatTime } from "../format";
import type { Roofline } from "../protocol";
import { type Range, ceiling, dotRadius, isHollow, logScale, placesOfHollow, powersOfTen, rangesOf, sharedPeaks } from "./log_scales";

export type Kernel = Roofline["kernels"][number];

const EDGES = { left: 96, right: 24, top: 16, bottom: 44 };

export function kernelText(kernel: Kernel): string {
  const reached = kernel.roofline_percent === null ? "" : ` ${formatPercent(kernel.roofline_percent)} of what the device can do there.`;
  const kind = [kernel.work, kernel.precision].filter((word) => word !== null && word !== "").join(", ");
  const { flops_per_second: flops, flops_per_byte: intensity, bytes_per_second: bytes } = kernel;
  const speed =
    flops === null || intensity === null
      ? `${formatBytes(bytes)}/s; its operations are not known.${reached.replace("there", "with its memory")}`
      : `${formatFlops(flops)}/s at ${formatNumber(intensity)} FLOP per byte.${reached}`;
  return `${formatTime(kernel.device_ns)} per step, ${kind}: ${speed}`;
}

export class RooflinePlot {
  readonly drawing = svg("svg", { class: "roofline-plot", role: "img", "aria-label": "Roofline: operations per second over operations per byte. The table beside it has the same kernels." });
  private readonly readout = element("p", { class: "readout", "aria-live": "polite" });
  readonly node = element("div", { class: "roofline-room" }, this.readout, this.drawing);
  private readonly resized = new ResizeObserver(() => this.draw());
  private roofline: Roofline | undefined;

  constructor(private readonly actions: { pointed: (kernel: number | null) => void; chosen: (kernel: Kernel) => void }) {
    this.resized.observe(this.drawing);
  }

  show(roofline: Roofline): void {
    this.roofline = roofline;
    this.draw();
    this.mark(null);
  }

  /** Makes a kernel stand out and says what it is. */
  mark(kernel: number | null): void {
    for (const dot of this.drawing.querySelectorAll(".dot")) dot.classList.toggle("marked", dot.getAttribute("data-kernel") === String(kernel));
    const marked = kernel === null ? undefined : this.roofline?.kernels[kernel];
    replace(this.readout, ...(marked === undefined ? ["Point at a kernel to see what it is, click to see it on the timeline."] : [element("b", {}, marked.name), ` ${kernelText(marked)}`]));
  }

  close(): void {
    this.resized.disconnect();
  }

  private draw(): void {
    const { roofline, drawing } = this;
    const { clientWidth: width, clientHeight: height } = drawing;
    if (roofline === undefined || width < 50 || height < 50) return;
    const ranges = rangesOf(roofline);
    const [left, right, top, bottom] = [EDGES.left, width - EDGES.right, EDGES.top, height - EDGES.bottom];
    const x = logScale(ranges.x, left, right);
    const y = logScale(ranges.y, bottom, top);
    const most = roofline.kernels.reduce((longest, { device_ns }) => Math.max(longest, device_ns), 0);
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    replace(
      drawing,
      ...powersOfTen(ranges.x).flatMap((power) => [
        svg("line", { class: "grid", x1: x(power), x2: x(power), y1: top, y2: bottom }),
        svg("text", { class: "tick", x: x(power), y: bottom + 18, "text-anchor": "middle" }, formatNumber(power)),
      ]),
      ...powersOfTen(ranges.y).flatMap((power) => [
        svg("line", { class: "grid", x1: left, x2: right, y1: y(power), y2: y(power) }),
        svg("text", { class: "tick", x: left - 8, y: y(power) + 4, "text-anchor": "end" }, `${formatFlops(power)}/s`),
      ]),
      svg("text", { class: "tick", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, "operations per byte of memory traffic (FLOP per byte)"),
      ...sharedPeaks(roofline.peaks).flatMap(({ precision, flops_per_second: peak }) => {
        const points = ceiling(peak, roofline.bytes_per_second, ranges.x).map((point) => `${x(point.x)},${y(point.y)}`);
        return [
          svg("polyline", { class: "ceiling", points: points.join(" ") }),
          svg("text", { class: "tick on-lines", x: right - 4, y: y(peak) - 6, "text-anchor": "end" }, `${precision} ${formatFlops(peak)}/s`),
        ];
      }),
      roofline.bytes_per_second !== null && this.memoryLabel(roofline.bytes_per_second, ranges.x.low, x, y),
      ...this.dots(roofline, ranges.x, most, x, y).reverse(),
    );
  }

  private memoryLabel(bytesPerSecond: number, low: number, x: (value: number) => number, y: (value: number) => number): SVGElement {
    const at = { x: x(low * 1.6), y: y(low * 1.6 * bytesPerSecond) };
    const slope = Math.atan2(y(low * 10 * bytesPerSecond) - y(low * bytesPerSecond), x(low * 10) - x(low)) * (180 / Math.PI);
    return svg("text", { class: "tick on-lines", x: at.x, y: at.y - 6, transform: `rotate(${slope} ${at.x} ${at.y})` }, `memory ${formatBytes(bytesPerSecond)}/s`);
  }

  private dots({ kernels, peaks, bytes_per_second }: Roofline, range: Range, mostNs: number, x: (value: number) => number, y: (value: number) => number): SVGElement[] {
    const lowestCorner = peaks.reduce((least, { flops_per_second }) => Math.min(least, flops_per_second / (bytes_per_second ?? 1)), range.high);
    const hollow = kernels.filter((kernel) => isHollow(kernel, bytes_per_second));
    const places = placesOfHollow(hollow.length, range, lowestCorner);
    return kernels.flatMap((kernel, at) => {
      const { flops_per_byte, flops_per_second } = kernel;
      if (flops_per_byte !== null && flops_per_second !== null) return [this.dot(kernel, at, mostNs, x(flops_per_byte), y(flops_per_second))];
      const along = places[hollow.indexOf(kernel)];
      return along === undefined ? [] : [this.dot(kernel, at, mostNs, x(along), y(along * kernel.bytes_per_second))];
    });
  }

  private dot(kernel: Kernel, at: number, mostNs: number, cx: number, cy: number): SVGElement {
    const dot = svg("circle", {
      class: kernel.flops_per_second === null ? "dot hollow" : "dot", "data-kernel": at, cx, cy, r: dotRadius(kernel.device_ns, mostNs), style: colorStyle(kernel.color),
    });
    dot.addEventListener("pointerenter", () => this.actions.pointed(at));
    dot.addEventListener("pointerleave", () => this.actions.pointed(null));
    dot.addEventListener("click", () => this.actions.chosen(kernel));
    return dot;
  }
}
