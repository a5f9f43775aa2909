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
  columns.begin(width, view);
  const spans = spansOf(gaps);
  const middle = (view.start + view.end) / 2;
  for (const [start, end] of [[view.start, middle], [middle, view.end]] as const) columns.add(spans, view, start, end, (i) => spans.color[i] ?? 0);
  const pixels = new Uint32Array(width * HEIGHT);
  columns.paint(pixels, HEIGHT, COLORS);
  return pixels;
}

/** How many pixels a color fills. */
function areas(pixels: Uint32Array): number[] {
  return [...COLORS].map((color) => pixels.filter((pixel) => pixel === color).length);
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
  const filled = column(10).filter((pixel) => pixel !== 0).length;
  assert(filled === 3 || filled === 4, `${filled} of ${HEIGHT} pixels`); // a fifth, rounded either way
  assert.deepEqual(column(9), new Array(HEIGHT).fill(0));
  assert.deepEqual(column(35), new Array(HEIGHT).fill(0xff00ff00));
});

test("many gaps that are too short for a pixel of height are seen as often as they last", () => {
  const gaps = Array.from({ length: 1000 }, (_, i) => ({ start: i * 100, duration: 2, share: 1, color: i % 3 }));
  const found = areas(painted(gaps, { start: 0, end: 100_000 }, 1000));
  for (const area of found) assert(Math.abs(area - (0.02 / 3) * 1000 * HEIGHT) < 15, found.join(" "));
});

test("gaps that are drawn together share the columns that they cover, also from before the window", () => {
  const together = [0.2, 0.3].map((share, color) => ({ start: 40, duration: 40, share, color }));
  const pixels = painted(together, { start: 50, end: 60 }, 10);
  const [red = 0, green = 0, blue = 0] = areas(pixels);
  assert(Math.abs(red - 0.2 * 10 * HEIGHT) < 2 && Math.abs(green - 0.3 * 10 * HEIGHT) < 2 && blue === 0, [red, green, blue].join(" "));
});
