/**
 * Paints spans. A lane is a row of pixels first, one high, in which a million events cost no more than the row is wide;
 * then the row is stretched to the lane's height, and names are written on it.
 */
import type { Pen } from "../pen";
import type { Nanoseconds } from "../protocol";
import { type Frame, SMALL_FONT, setFont } from "./frame";
import { GapColumns } from "./gap_columns";
import { styleOf } from "./look";
import { SearchMarks, type Searched } from "./search_marks";
import { type Spans, firstAfter } from "./tile";
import type { Draw } from "./tile_cache";

interface Label {
  x: number;
  y: number;
  room: number;
  text: string;
  ink: string;
}

const NARROWEST_LABEL = 22; // CSS pixels
const LOWEST_LABEL = 11;
const LABEL_PADDING = 4;

export class SpanPainter {
  private readonly sheet = document.createElement("canvas");
  private readonly sheetContext = this.sheet.getContext("2d");
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0); // of the image
  private width = 0;
  private rows: { y: number; height: number }[] = [];
  private hatched: number[] = []; // x, y, width, height, x, …
  private labels: Label[] = [];
  private marks: SearchMarks | null = null;
  private readonly gapColumns = new GapColumns();

  constructor(private readonly hasNames = true) {}

  /** Names that do not match are painted pale; without a search all are painted in full. */
  begin(frame: Frame, searched: Searched | null): void {
    this.width = Math.max(1, Math.round(frame.stage.width * frame.ratio));
    this.rows.length = 0;
    this.hatched.length = 0;
    this.labels.length = 0;
    if (this.marks?.searched !== searched) this.marks = searched && new SearchMarks(searched);
  }

  /** A new lane, in device pixels. */
  row(y: number, height: number): number {
    const row = this.rows.push({ y, height }) - 1;
    if ((row + 1) * this.width > this.pixels.length || this.image?.width !== this.width) this.grow(row);
    this.pixels.fill(0, row * this.width, (row + 1) * this.width);
    return row;
  }

  /** Spans of a lane inside [start, end). */
  lane(frame: Frame, spans: Spans, lane: number, start: Nanoseconds, end: Nanoseconds, row: number): void {
    const from = spans.firstOfLane[lane];
    const to = spans.firstOfLane[lane + 1];
    const placed = this.rows[row];
    if (from === undefined || to === undefined || from === to || !placed) return;
    const { look, stage, ratio } = frame;
    const { view } = stage;
    const scale = this.width / (view.end - view.start);
    const left = Math.max(start, view.start);
    const right = Math.min(end, view.end);
    const marks = this.marks?.of(spans.names);
    const hasLabels = this.hasNames && placed.height >= LOWEST_LABEL * ratio;
    const narrowest = NARROWEST_LABEL * ratio;
    const offset = row * this.width;
    let painted = 0;
    for (let i = Math.max(from, firstAfter(spans, from, to, left) - 1); i < to; ++i) {
      const spanStart = spans.start[i] ?? 0;
      if (spanStart >= right) break;
      const spanEnd = spanStart + (spans.duration[i] ?? 0);
      if (spanEnd < left) continue;
      const begin = Math.round((Math.max(spanStart, left) - view.start) * scale);
      const until = Math.min(this.width, Math.max(begin + 1, Math.round((Math.min(spanEnd, right) - view.start) * scale)));
      const x = Math.max(painted, begin);
      if (until <= x) continue;
      painted = until;
      const style = styleOf(spans.color[i] ?? 0, spans.busy[i] ?? 1, marks !== undefined && marks[spans.name[i] ?? 0] === 0);
      const endsHere = spanEnd <= right && until - x > 3 * ratio;
      this.pixels.fill(look.pixels[style] ?? 0, offset + x, offset + until - (endsHere ? 1 : 0));
      const beginsHere = Math.max(spanStart, view.start) >= left;
      if (!hasLabels || !beginsHere || spans.events[i] !== 1) continue;
      const room = (Math.min(spanEnd, view.end) - view.start) * scale - x;
      if (room >= narrowest) {
        this.labels.push({ x, y: placed.y + placed.height / 2, room, text: spans.names[spans.name[i] ?? 0] ?? "", ink: look.inks[style] ?? look.ink });
      }
    }
  }

  /** Idle time, whose pieces `cover` draws. */
  gaps(frame: Frame, y: number, height: number, cover: (draw: Draw<Spans>) => void): void {
    const { look, stage: { view } } = frame;
    this.gapColumns.begin(this.width, view);
    cover((spans, start, end) => {
      const marks = this.marks?.of(spans.names);
      const style = (i: number): number => styleOf(spans.color[i] ?? 0, 1, marks !== undefined && marks[spans.name[i] ?? 0] === 0);
      this.gapColumns.add(spans, view, start, end, style);
      this.markGaps(frame, spans, Math.max(start, view.start), Math.min(end, view.end), { y, height }, style);
    });
    const first = this.row(y, 1);
    for (let line = 1; line < height; ++line) this.row(y + line, 1);
    this.gapColumns.paint(this.pixels.subarray(first * this.width), height, look.pixels);
  }

  /** Stripes and names, where there is room. */
  private markGaps(frame: Frame, spans: Spans, left: Nanoseconds, right: Nanoseconds, box: { y: number; height: number }, style: (i: number) => number): void {
    const { look, ratio, stage: { view } } = frame;
    const scale = this.width / (view.end - view.start);
    for (let i = Math.max(0, firstAfter(spans, 0, spans.count, left) - 1); i < spans.count; ++i) {
      const spanStart = spans.start[i] ?? 0;
      if (spanStart >= right) break;
      const x = Math.round((Math.max(spanStart, left) - view.start) * scale);
      const width = Math.round((Math.min(spanStart + (spans.duration[i] ?? 0), right) - view.start) * scale) - x;
      if (spans.events[i] !== 1 || width <= 3 * ratio) continue;
      this.hatched.push(x, box.y, width, box.height);
      const beginsHere = Math.max(spanStart, view.start) >= left;
      if (!this.hasNames || !beginsHere || box.height < LOWEST_LABEL * ratio) continue;
      const room = (Math.min(spanStart + (spans.duration[i] ?? 0), view.end) - view.start) * scale - x;
      if (room < NARROWEST_LABEL * ratio) continue;
      this.labels.push({ x, y: box.y + box.height / 2, room, text: spans.names[spans.name[i] ?? 0] ?? "", ink: look.inks[style(i)] ?? look.ink });
    }
  }

  /** Puts everything onto the canvas. */
  end(frame: Frame, hatch: CanvasPattern | null): void {
    const { context } = frame;
    if (frame.pixels) this.putRows(frame.pixels);
    else this.paintRuns(context);
    if (hatch && this.hatched.length > 0) {
      context.fillStyle = hatch;
      fillAll(context, this.hatched);
    }
    this.paintLabels(frame);
  }

  private putRows(onto: CanvasRenderingContext2D): void {
    if (!this.image || this.rows.length === 0) return;
    this.sheetContext?.putImageData(this.image, 0, 0, 0, 0, this.width, this.rows.length);
    onto.imageSmoothingEnabled = false;
    this.rows.forEach(({ y, height }, row) => {
      onto.drawImage(this.sheet, 0, row, this.width, 1, 0, y, this.width, height);
    });
  }

  /** The rows as rectangles, a color after another. */
  private paintRuns(context: Pen): void {
    const byColor = new Map<number, number[]>();
    this.rows.forEach(({ y, height }, row) => {
      const pixels = this.pixels.subarray(row * this.width, (row + 1) * this.width);
      for (let x = 0; x < this.width; ) {
        const color = pixels[x] ?? 0;
        let end = x + 1;
        while (end < this.width && pixels[end] === color) ++end;
        if (color !== 0) {
          const list = byColor.get(color) ?? [];
          list.push(x, y, end - x, height);
          byColor.set(color, list);
        }
        x = end;
      }
    });
    for (const [color, list] of byColor) {
      context.fillStyle = `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`;
      fillAll(context, list);
    }
  }

  /** Room for half as many rows more, keeping what is painted. */
  private grow(row: number): void {
    const height = Math.ceil((row + 8) * 1.5);
    const kept = this.image?.width === this.width ? this.pixels.subarray(0, row * this.width) : null;
    this.sheet.width = this.width;
    this.sheet.height = height;
    this.image = new ImageData(this.width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    if (kept) this.pixels.set(kept);
  }

  private paintLabels(frame: Frame): void {
    const { context, ratio, fit } = frame;
    setFont(frame);
    context.textBaseline = "middle";
    context.textAlign = "left";
    this.labels.sort((left, right) => (left.ink < right.ink ? -1 : left.ink > right.ink ? 1 : 0));
    let ink = "";
    for (const label of this.labels) {
      const text = fit.fitName(label.text, label.room - 2 * LABEL_PADDING * ratio);
      if (text === "") continue;
      if (label.ink !== ink) context.fillStyle = ink = label.ink;
      context.fillText(text, label.x + LABEL_PADDING * ratio, label.y + (SMALL_FONT * ratio) / 16);
    }
  }
}

function fillAll(context: Pen, list: readonly number[]): void {
  for (let i = 0; i < list.length; i += 4) context.fillRect(list[i] ?? 0, list[i + 1] ?? 0, list[i + 2] ?? 0, list[i + 3] ?? 0);
}

/** The stripes that mark idle time everywhere. */
export function hatchOf(context: Pen, ratio: number): CanvasPattern | null {
  const size = Math.max(6, Math.round(7 * ratio));
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const ink = tile.getContext("2d");
  if (!ink) return null;
  ink.strokeStyle = "rgb(255 255 255 / .3)";
  ink.lineWidth = Math.max(1, 1.6 * ratio);
  for (const shift of [-size, 0, size]) {
    ink.beginPath();
    ink.moveTo(shift - 1, size + 1);
    ink.lineTo(shift + size + 1, -1);
    ink.stroke();
  }
  return context.createPattern(tile, "repeat");
}
