import assert from "node:assert/strict";
import { test } from "node:test";
import { around, moved, ticks, within, zoomed } from "../src/report/range.js";

test("a range stays within the step and keeps its length", () => {
  assert.deepEqual(within({ start: -300, end: 700 }, 5000), { start: 0, end: 1000 });
  assert.deepEqual(moved({ start: 3500, end: 4500 }, 9000, 5000), { start: 4000, end: 5000 });
  assert.deepEqual(moved({ start: 3500, end: 4500 }, -500, 5000), { start: 3000, end: 4000 });
  assert.deepEqual(within({ start: -1, end: 99_999 }, 5000), { start: 0, end: 5000 });
});

test("zooming leaves what is under the pointer where it is", () => {
  // A quarter of the way into 1000 … 5000 lies 2000; half as much seen: 500 before it and 1500 behind it.
  assert.deepEqual(zoomed({ start: 1000, end: 5000 }, 2000, 0.5, 10_000), { start: 1500, end: 3500 });
  assert.deepEqual(zoomed({ start: 0, end: 200 }, 0, 0.001, 10_000), { start: 0, end: 100 }, "there is a shortest range");
  assert.deepEqual(zoomed({ start: 400, end: 600 }, 500, 1e9, 10_000), { start: 0, end: 10_000 });
});

test("one lands on a place with room around it", () => {
  assert.deepEqual(around(4000, 5000, 10_000), { start: 3000, end: 6000 });
  assert.deepEqual(around(0, 1000, 10_000), { start: 0, end: 3000 });
  assert.deepEqual(around(500_000, 500_001, 1_000_000), { start: 498_500.5, end: 501_500.5 });
});

test("ticks are round and within the range", () => {
  assert.deepEqual(ticks({ start: 130, end: 520 }, 4), [200, 300, 400, 500]);
  assert.deepEqual(ticks({ start: 0, end: 2000 }, 5), [0, 500, 1000, 1500, 2000]);
});
