/**
 * Idle time to scale: each column of pixels is filled from below by the share of its time that each cause takes. So the
 * area of a color is the time of its cause at every zoom, however short the gaps are and however many share a column.
 * No DOM here.
 */
import type { Nanoseconds } from "../protocol";
import { type Spans, firstAfter } from "./tile";
import type { Viewport } from "./viewport";

const GOLDEN = 0.6180339887; // of its multiples, those of neighbors are far apart
const SLACK = 1e-4; // of a pixel, by which sums of shares may be wrong

export class GapColumns {
  private readonly shares = new Map<number, Float32Array>(); // of each column, by style
  private width = 0;
  private origin = 0; // the number of the first column, counted from the start of the trace

  begin(width: number, view: Viewport): void {
    this.shares.clear();
    this.width = width;
    this.origin = Math.round((view.start * width) / (view.end - view.start));
  }

  /** The gaps of a tile inside [start, end). */
  add(spans: Spans, view: Viewport, start: Nanoseconds, end: Nanoseconds, styleOf: (index: number) => number): void {
    const scale = this.width / (view.end - view.start);
    const left = Math.max(start, view.start);
    const right = Math.min(end, view.end);
    for (let i = firstReaching(spans, left); i < spans.count; ++i) {
      const spanStart = spans.start[i] ?? 0;
      if (spanStart >= right) break;
      const begin = (Math.max(spanStart, left) - view.start) * scale;
      const until = (Math.min(spanStart + (spans.duration[i] ?? 0), right) - view.start) * scale;
      if (until <= begin) continue;
      const shares = this.sharesOf(styleOf(i));
      const idle = spans.busy[i] ?? 1;
      for (let x = Math.floor(begin); x < until; ++x) shares[x] = (shares[x] ?? 0) + (Math.min(until, x + 1) - Math.max(begin, x)) * idle;
    }
  }

  /** Into rows of pixels, the topmost first. */
  paint(pixels: Uint32Array, height: number, colors: Uint32Array): void {
    const styles = [...this.shares].sort(([one], [other]) => one - other);
    for (let x = 0; x < this.width; ++x) {
      const rounding = roundingOf(this.origin + x);
      let share = 0;
      let from = 0;
      for (const [style, shares] of styles) {
        share += shares[x] ?? 0;
        const to = Math.min(height, Math.floor(share * height + rounding));
        for (; from < to; ++from) pixels[(height - 1 - from) * this.width + x] = colors[style] ?? 0;
      }
    }
  }

  private sharesOf(style: number): Float32Array {
    let shares = this.shares.get(style);
    if (!shares) this.shares.set(style, (shares = new Float32Array(this.width)));
    return shares;
  }
}

/** Gaps that are drawn together are one for each cause, all with the same start. */
function firstReaching(spans: Spans, time: Nanoseconds): number {
  let first = Math.max(0, firstAfter(spans, 0, spans.count, time) - 1);
  while (first > 0 && spans.start[first - 1] === spans.start[first]) --first;
  return first;
}

/**
 * What is added before a height is rounded down. It differs from column to column so that heights of less than a pixel
 * are right on average, and is that of a column wherever it is on the screen. A paler pixel would be as right, and look
 * like another cause.
 */
function roundingOf(column: number): number {
  return ((((column * GOLDEN) % 1) + 1) % 1) * (1 - SLACK) + SLACK;
}
