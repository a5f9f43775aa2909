import assert from "node:assert/strict";
import { test } from "node:test";
import { GapColumns } from "../src/timeline/gap_columns";
import { type Spans, noSpans } from "../src/timeline/tile";

const COLORS = Uint32Array.of(0xff0000ff, 0xff00ff00, 0xffff0000); // red, green, blue
const HEIGHT = 15;

interface Gap {
  start: number;
  duration: number;
  share: number;
  color: number;
}

function spansOf(gaps: readonly Gap[]): Spans {
  return {
    ...noSpans(),
    count: gaps.length,
    start: Float64Array.from(gaps, ({ start }) => start),
    duration: Float64Array.from(gaps, ({ duration }) => duration),
    busy: Float32Array.from(gaps, ({ share }) => share),
    color: Uint8Array.from(gaps, ({ color }) => color),
    firstOfLane: Uint32Array.of(0, gaps.length),
  };
}

function painted(gaps: readonly Gap[], view: { start: number; end: number }, width: number): Uint32Array {
  const columns = new GapColumns();
  columns.begin(width);
  const spans = spansOf(gaps);
  const middle = (view.start + view.end) / 2;
  for (const [start, end] of [[view.start, middle], [middle, view.end]] as const) columns.add(spans, view, start, end, (i) => spans.color[i] ?? 0);
  const pixels = new Uint32Array(width * HEIGHT);
  columns.paint(pixels, HEIGHT, COLORS);
  return pixels;
}

/** How many pixels a color fills, those in part with their part. */
function areas(pixels: Uint32Array): number[] {
  return [0, 8, 16].map((shift) => pixels.reduce((sum, pixel) => sum + (((pixel >>> shift) & 255) * (pixel >>> 24)) / 255 ** 2, 0));
}

test("the area of a color is the time of its cause, however short its gaps are", () => {
  const gaps: Gap[] = [];
  const time = [0, 0, 0];
  for (let at = 0, i = 0; at < 99_000; ++i) {
    const color = i % 3;
    const duration = i % 50 === 0 ? 2500 : 7 + (i % 11) * (color + 1);
    gaps.push({ start: at, duration, share: 1, color });
    time[color] = (time[color] ?? 0) + duration;
    at += duration + 40 + (i % 90);
  }
  for (const width of [40, 300, 724, 2000]) {
    areas(painted(gaps, { start: 0, end: 100_000 }, width)).forEach((area, color) => {
      const share = area / (width * HEIGHT);
      const expected = (time[color] ?? 0) / 100_000;
      assert(Math.abs(share - expected) < 0.01, `color ${color}: ${share} is not ${expected} at ${width} pixels`);
    });
  }
});

test("a lone short gap does not fill its pixel, and a long one fills all of its own", () => {
  const pixels = painted([{ start: 10.25, duration: 0.2, share: 1, color: 0 }, { start: 20, duration: 30, share: 1, color: 1 }], { start: 0, end: 100 }, 100);
  const column = (x: number): number[] => Array.from({ length: HEIGHT }, (_, y) => pixels[y * 100 + x] ?? 0);
  assert.deepEqual(column(10), [...new Array<number>(HEIGHT - 3).fill(0), ...new Array<number>(3).fill(0xff0000ff)]);
  assert.deepEqual(column(9), new Array(HEIGHT).fill(0));
  assert.deepEqual(column(35), new Array(HEIGHT).fill(0xff00ff00));
});

test("gaps that are drawn together share the columns that they cover, also from before the window", () => {
  const together = [0.2, 0.3].map((share, color) => ({ start: 40, duration: 40, share, color }));
  const pixels = painted(together, { start: 50, end: 60 }, 10);
  const [red = 0, green = 0, blue = 0] = areas(pixels);
  assert(Math.abs(red - 0.2 * 10 * HEIGHT) < 0.5 && Math.abs(green - 0.3 * 10 * HEIGHT) < 0.5 && blue === 0, [red, green, blue].join(" "));
});
