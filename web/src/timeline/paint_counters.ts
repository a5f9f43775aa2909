/** Paints a counter as a filled curve: the value holds until the next point, and a bucket's extremes stay visible. */
import type { CounterTile, Nanoseconds, Track } from "../protocol";
import { formatBytes, formatNumber } from "../format";
import { type CounterBox, CounterColumns, type CounterScale } from "./counter_columns";
import { type Frame, SMALL_FONT, setFont } from "./frame";

/** The values of a counter as text, with its unit. */
export function counterText(track: Track, value: number): string {
  if (track.unit === "bytes") return formatBytes(value);
  return track.unit === null || track.unit === "" ? formatNumber(value) : `${formatNumber(value)} ${track.unit}`;
}

/** From the smallest value to the largest one, with zero among them. */
export function scaleOf(track: Track): CounterScale {
  const low = Math.min(0, track.minimum ?? 0);
  const high = Math.max(0, track.maximum ?? 0);
  return high > low ? { low, high } : { low, high: low + 1 };
}

/** The value at a time, or null before the first point. */
export function valueAt(tile: CounterTile, time: Nanoseconds): number | null {
  let from = 0;
  let to = tile.time_ns.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((tile.time_ns[middle] ?? 0) <= time) from = middle + 1;
    else to = middle;
  }
  return from > 0 ? (tile.last[from - 1] ?? null) : null;
}

const GROUND_ALPHA = 0.22;
const LINE_ALPHA = 0.9;

/** Paints curves, each as a picture of its own: thousands of points cost what its pixels cost. */
export class CounterPainter {
  private readonly sheet = document.createElement("canvas");
  private readonly sheetContext = this.sheet.getContext("2d");
  private image: ImageData | null = null;
  readonly columns = new CounterColumns();

  /** What the columns hold. */
  paint(frame: Frame, scale: CounterScale, box: CounterBox): void {
    const zero = Math.round(box.bottom + (scale.low * (box.bottom - box.top)) / (scale.high - scale.low));
    if (frame.pixels) this.paintPixels(frame.pixels, frame, zero, box);
    else this.paintRuns(frame, zero);
  }

  private paintPixels(onto: CanvasRenderingContext2D, frame: Frame, zero: number, box: CounterBox): void {
    const { columns, sheetContext } = this;
    const first = Math.floor(box.top);
    const height = Math.ceil(box.bottom) + box.thick - first;
    const { width } = columns;
    if (!sheetContext || width === 0 || height <= 0) return;
    if (this.image?.width !== width || this.image.height < height) {
      this.image = new ImageData(width, height);
      this.sheet.width = width;
      this.sheet.height = height;
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0, 0, width * height);
    const solid = frame.look.markPixel & 0xffffff;
    const ground = (solid | (Math.round(255 * GROUND_ALPHA) << 24)) >>> 0;
    const line = (solid | (Math.round(255 * LINE_ALPHA) << 24)) >>> 0;
    const put = (color: number, x: number, wide: number, from: number, to: number): void => {
      for (let y = Math.max(0, from - first); y < Math.min(height, to - first); ++y) {
        for (let at = y * width + x, end = at + wide; at < end; ++at) pixels[at] = color;
      }
    };
    columns.runs((x, wide, level, top, bottom) => {
      put(ground, x, wide, Math.min(zero, level), Math.max(zero, level));
      put(line, x, wide, top, bottom);
    });
    sheetContext.putImageData(this.image, 0, 0, 0, 0, width, height);
    onto.imageSmoothingEnabled = false;
    onto.drawImage(this.sheet, 0, 0, width, height, 0, first, width, height);
  }

  private paintRuns({ context, look }: Frame, zero: number): void {
    context.fillStyle = look.mark;
    context.globalAlpha = GROUND_ALPHA;
    this.columns.runs((x, wide, level) => context.fillRect(x, Math.min(zero, level), wide, Math.abs(zero - level)));
    context.globalAlpha = LINE_ALPHA;
    this.columns.runs((x, wide, _level, top, bottom) => context.fillRect(x, top, wide, bottom - top));
    context.globalAlpha = 1;
  }
}

/** The largest value, where the curve's scale ends. */
export function paintCounterScale(frame: Frame, track: Track, top: number): void {
  const { context, look, ratio } = frame;
  setFont(frame);
  const text = counterText(track, scaleOf(track).high);
  const width = frame.fit.width(text) + 8 * ratio;
  context.globalAlpha = 0.75;
  context.fillStyle = look.raised;
  context.fillRect(0, top, width, (SMALL_FONT + 4) * ratio);
  context.globalAlpha = 1;
  context.fillStyle = look.soft;
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(text, 4 * ratio, top + 2 * ratio);
}
