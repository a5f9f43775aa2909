/**
 * Idle time to scale: each column of pixels is filled from below by the share of its time that each cause takes. So the
 * area of a color is the time of its cause at every zoom, however short the gaps are and however many share a column.
 * No DOM here.
 */
import type { Nanoseconds } from "../protocol";
import { type Spans, firstAfter } from "./tile";
import type { Viewport } from "./viewport";

const FINEST = 1 / 16; // of a pixel

export class GapColumns {
  private readonly shares = new Map<number, Float32Array>(); // of each column, by style
  private width = 0;

  begin(width: number): void {
    this.shares.clear();
    this.width = width;
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

  /** Into rows of pixels, the topmost first; a pixel that is filled in part is as opaque as that part. */
  paint(pixels: Uint32Array, height: number, colors: Uint32Array): void {
    const styles = [...this.shares].sort(([one], [other]) => one - other);
    for (let x = 0; x < this.width; ++x) {
      let from = 0;
      for (const [style, shares] of styles) {
        const to = Math.min(height, from + Math.round(((shares[x] ?? 0) * height) / FINEST) * FINEST);
        for (let cell = Math.floor(from); cell < to; ++cell) {
          const at = (height - 1 - cell) * this.width + x;
          pixels[at] = filled(pixels[at] ?? 0, colors[style] ?? 0, Math.min(to, cell + 1) - Math.max(from, cell));
        }
        from = to;
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

/** A pixel of which a color takes one more share. */
function filled(pixel: number, color: number, share: number): number {
  const before = pixel >>> 24;
  const added = Math.min(255 - before, Math.round(255 * share));
  if (added === 0) return pixel;
  const part = (shift: number): number => Math.round((((pixel >>> shift) & 255) * before + ((color >>> shift) & 255) * added) / (before + added)) << shift;
  return (((before + added) << 24) | part(16) | part(8) | part(0)) >>> 0;
}
