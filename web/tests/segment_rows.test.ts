import assert from "node:assert/strict";
import { test } from "node:test";
import { neighborOf, offsetsOf, partAt } from "../src/memory/segment_rows";
import type { Segment } from "../src/protocol";

function segment(...bytes: number[]): Segment {
  const zeros = bytes.map(() => 0);
  const total = bytes.reduce((sum, each) => sum + each, 0);
  return { address: "0x0", bytes: total, used_bytes: 0, stream: 0, pool: "", part_bytes: bytes, part_used_bytes: zeros, part_blocks: zeros, part_state: zeros, part_category: zeros, part_maker: zeros };
}

test("parts of a segment lie behind one another and fill it", () => {
  assert.deepEqual(offsetsOf(segment(10, 30, 60)), [0, 10, 40]);
  assert.deepEqual([0, 0.09, 0.1, 0.39, 0.4, 0.999].map((share) => partAt(segment(10, 30, 60), share)), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual([-0.1, 1, 2].map((share) => partAt(segment(10, 30, 60), share)), [null, null, null]);
  assert.equal(partAt(segment(), 0), null);
});

test("arrow keys go to the part beside, and to what lies above and below it", () => {
  const rows = [segment(50, 50), segment(10, 30, 60)];
  assert.deepEqual(neighborOf(rows, { segment: 0, part: 0 }, "ArrowRight"), { segment: 0, part: 1 });
  assert.equal(neighborOf(rows, { segment: 0, part: 1 }, "ArrowRight"), null);
  assert.equal(neighborOf(rows, { segment: 0, part: 0 }, "ArrowUp"), null);
  assert.deepEqual(neighborOf(rows, { segment: 0, part: 0 }, "ArrowDown"), { segment: 1, part: 1 });
  assert.deepEqual(neighborOf(rows, { segment: 1, part: 2 }, "ArrowUp"), { segment: 0, part: 1 });
});
