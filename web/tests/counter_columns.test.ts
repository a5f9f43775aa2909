import assert from "node:assert/strict";
import { test } from "node:test";
import type { CounterTile } from "../src/protocol";
import { CounterColumns, NOTHING } from "../src/timeline/counter_columns";

const BOX = { top: 0, bottom: 100, thick: 1 };
const SCALE = { low: 0, high: 100 };

function tileOf(points: readonly (readonly [time: number, minimum: number, maximum: number, last: number])[]): CounterTile {
  return { track: 1, time_ns: points.map(([time]) => time), minimum: points.map(([, low]) => low), maximum: points.map(([, , high]) => high), last: points.map(([, , , last]) => last) };
}

function columnsOf(width: number, view: { start: number; end: number }, tile: CounterTile, start = view.start, end = view.end): CounterColumns {
  const columns = new CounterColumns();
  columns.begin(width);
  columns.add(tile, view, start, end, SCALE, BOX);
  return columns;
}

test("a value holds until the next point, and nothing is known before the first", () => {
  const columns = columnsOf(10, { start: 0, end: 10 }, tileOf([[2, 30, 30, 30], [6, 80, 80, 80]]));
  assert.deepEqual([...columns.level], [NOTHING, NOTHING, 70, 70, 70, 70, 20, 20, 20, 20]);
  assert.deepEqual([columns.top[6], columns.bottom[6]], [20, 71], "the line goes up from the value before");
  assert.deepEqual([columns.top[7], columns.bottom[7]], [20, 21]);
});

test("the extremes of a bucket stay visible where it is as narrow as a pixel", () => {
  const columns = columnsOf(2, { start: 0, end: 2 }, tileOf([[0, 10, 90, 40], [1, 40, 40, 40]]));
  assert.deepEqual([columns.top[0], columns.bottom[0]], [10, 91]);
  assert.deepEqual([columns.top[1], columns.bottom[1]], [60, 61]);
});

test("a point before the part gives its value and not its extremes", () => {
  const columns = columnsOf(4, { start: 4, end: 8 }, tileOf([[0, 0, 100, 50]]));
  assert.deepEqual([...columns.level], [50, 50, 50, 50]);
  assert.deepEqual([columns.top[0], columns.bottom[0]], [50, 51]);
});

test("of any points, each column shows the last value in it and all between its extremes", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 50; ++round) {
    const points: [number, number, number, number][] = [];
    for (let time = random(5); time < 1000; time += 1 + random(40)) {
      const values = [random(101), random(101), random(101)].sort((left, right) => left - right);
      points.push([time, values[0] ?? 0, values[2] ?? 0, values[1] ?? 0]);
    }
    const columns = columnsOf(50, { start: 0, end: 1000 }, tileOf(points));
    for (let x = 0; x < 50; ++x) {
      const inside = points.filter(([time]) => Math.round(time / 20) === x); // begin in this column
      const holding = points.filter(([time]) => Math.round(time / 20) <= x).at(-1);
      const expected = holding ? 100 - holding[3] : NOTHING;
      assert.equal(columns.level[x], expected, `column ${String(x)} of round ${String(round)}`);
      if (inside.length === 0) continue;
      const highest = Math.min(...inside.map(([, , maximum]) => 100 - maximum));
      const lowest = Math.max(...inside.map(([, minimum]) => 100 - minimum));
      assert.ok((columns.top[x] ?? 0) <= highest && (columns.bottom[x] ?? 0) >= lowest + 1);
    }
  }
});

test("columns that look alike are one run", () => {
  const runs: number[][] = [];
  columnsOf(10, { start: 0, end: 10 }, tileOf([[1, 50, 50, 50], [5, 20, 20, 20]])).runs((...run) => runs.push(run));
  assert.deepEqual(runs, [[1, 4, 50, 50, 51], [5, 1, 80, 50, 81], [6, 4, 80, 80, 81]]);
});
