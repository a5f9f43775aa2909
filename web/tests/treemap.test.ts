import assert from "node:assert/strict";
import { test } from "node:test";
import type { Box } from "../src/memory/curve";
import { largestOf, treemap } from "../src/memory/treemap";

const ROOM: Box = { left: 10, top: 20, width: 300, height: 200 };

test("each box is as large as its value's share of the room", () => {
  const values = [60, 30, 30, 20, 10, 6, 3, 1];
  const total = values.reduce((sum, value) => sum + value, 0);
  treemap(values, ROOM).forEach((box, i) => {
    const share = (box.width * box.height) / (ROOM.width * ROOM.height);
    assert.ok(Math.abs(share - (values[i] ?? 0) / total) < 1e-9, `box ${String(i)}`);
  });
});

test("boxes lie in the room and nowhere on each other", () => {
  let seed = 3;
  const random = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let round = 0; round < 30; ++round) {
    const values = Array.from({ length: 1 + Math.floor(random() * 60) }, () => Math.floor(1 + random() ** 4 * 1e9)).sort((left, right) => right - left);
    const boxes = treemap(values, ROOM);
    const slack = 1e-6;
    boxes.forEach((box, i) => {
      assert.ok(box.left >= ROOM.left - slack && box.left + box.width <= ROOM.left + ROOM.width + slack);
      assert.ok(box.top >= ROOM.top - slack && box.top + box.height <= ROOM.top + ROOM.height + slack);
      for (const other of boxes.slice(i + 1)) {
        const wide = Math.min(box.left + box.width, other.left + other.width) - Math.max(box.left, other.left);
        const high = Math.min(box.top + box.height, other.top + other.height) - Math.max(box.top, other.top);
        assert.ok(wide <= slack || high <= slack, "they touch at most");
      }
    });
  }
});

test("equal values become near squares rather than slices", () => {
  for (const { width, height } of treemap([1, 1, 1, 1, 1, 1], ROOM)) assert.ok(Math.max(width / height, height / width) < 2);
});

test("nothing, zeros and a room without size are no reason to fail", () => {
  assert.deepEqual(treemap([], ROOM), []);
  assert.ok(treemap([0, -1, Number.NaN], ROOM).every(({ width, height }) => width * height === 0));
  assert.ok(treemap([3, 2], { ...ROOM, width: 0 }).every(({ width, height }) => width * height === 0));
  const [only] = treemap([5, 0], ROOM);
  assert.deepEqual(only, ROOM);
});

test("of very many modules the smallest are one rectangle, and no byte is lost", () => {
  const rows = Array.from({ length: 1000 }, (_, i) => ({ name: `m${String(i)}`, bytes: 2000 - i, blocks: 1, example: i }));
  const shown = largestOf(rows);
  assert.ok(shown.length < 200);
  assert.equal(shown.reduce((sum, { bytes }) => sum + bytes, 0), rows.reduce((sum, { bytes }) => sum + bytes, 0));
  assert.equal(shown.reduce((sum, { blocks }) => sum + blocks, 0), 1000);
  assert.equal(shown.at(-1)?.example, null);
  assert.deepEqual(largestOf(rows.slice(0, 3)), rows.slice(0, 3));
});
