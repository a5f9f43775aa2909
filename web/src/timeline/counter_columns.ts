/**
 * A counter's curve by columns of pixels: at most one entry a pixel of width, however many points there are. No DOM here.
 */
import type { CounterTile, Nanoseconds } from "../protocol";
import type { Viewport } from "./viewport";

export interface CounterScale {
  low: number;
  high: number;
}

/** Where values are on the picture, in device pixels. */
export interface CounterBox {
  top: number;
  bottom: number;
  thick: number; // of the line
}

export const NOTHING = -1; // in `level`: no value is known there

/** In device pixels, by column: `level` is where the ground ends and the line runs, which reaches from `top` to `bottom`. */
export class CounterColumns {
  level = new Int32Array(0);
  top = new Int32Array(0);
  bottom = new Int32Array(0);
  width = 0;

  begin(width: number): void {
    if (this.level.length < width) [this.level, this.top, this.bottom] = [new Int32Array(width), new Int32Array(width), new Int32Array(width)];
    this.level.fill(NOTHING, 0, width);
    this.width = width;
  }

  /** The part of a tile inside [start, end). Values hold until the next point; a bucket's extremes stay visible. */
  add(tile: CounterTile, view: Viewport, start: Nanoseconds, end: Nanoseconds, scale: CounterScale, box: CounterBox): void {
    const { level, top, bottom, width } = this;
    const left = Math.max(start, view.start);
    const right = Math.min(end, view.end);
    const perNs = width / (view.end - view.start);
    const perValue = (box.bottom - box.top) / (scale.high - scale.low);
    const yOf = (value: number): number => Math.round(box.bottom - (value - scale.low) * perValue);
    const times = tile.time_ns;
    for (let i = lastBefore(times, left); i < times.length; ++i) {
      const time = times[i] ?? 0;
      if (time >= right) break;
      const from = Math.max(time, left);
      const until = Math.min(times[i + 1] ?? end, right);
      if (until <= from) continue;
      const x = Math.max(0, Math.round((from - view.start) * perNs));
      const beyond = Math.min(width, Math.max(x + 1, Math.round((until - view.start) * perNs)));
      if (x >= beyond) continue;
      const y = yOf(tile.last[i] ?? 0);
      let highest = y;
      let lowest = y;
      if (time >= left) {
        highest = Math.min(highest, yOf(tile.maximum[i] ?? 0));
        lowest = Math.max(lowest, yOf(tile.minimum[i] ?? 0));
      }
      const before = level[x] === NOTHING ? (level[x - 1] ?? NOTHING) : (level[x] ?? NOTHING);
      if (before !== NOTHING) {
        highest = Math.min(highest, before);
        lowest = Math.max(lowest, before);
      }
      if (level[x] !== NOTHING) {
        highest = Math.min(highest, top[x] ?? highest);
        lowest = Math.max(lowest, (bottom[x] ?? lowest) - box.thick);
      }
      for (let each = x; each < beyond; ++each) {
        level[each] = top[each] = y;
        bottom[each] = y + box.thick;
      }
      top[x] = highest;
      bottom[x] = lowest + box.thick;
    }
  }

  /** Columns that look alike, as one. */
  runs(use: (x: number, width: number, level: number, top: number, bottom: number) => void): void {
    const { level, top, bottom, width } = this;
    for (let x = 0; x < width; ) {
      let end = x + 1;
      while (end < width && level[end] === level[x] && top[end] === top[x] && bottom[end] === bottom[x]) ++end;
      if (level[x] !== NOTHING) use(x, end - x, level[x] ?? 0, top[x] ?? 0, bottom[x] ?? 0);
      x = end;
    }
  }
}

/** The last point that is not later than a time; the first where all are. */
function lastBefore(times: readonly Nanoseconds[], time: Nanoseconds): number {
  let from = 0;
  let to = times.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((times[middle] ?? 0) <= time) from = middle + 1;
    else to = middle;
  }
  return Math.max(0, from - 1);
}
