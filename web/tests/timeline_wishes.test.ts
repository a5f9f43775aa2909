import assert from "node:assert/strict";
import { test } from "node:test";
import { slowLast } from "../src/timeline/wishes";

test("tracks that take long are asked for apart, and last", () => {
  const wishes = [
    { level: 3, tile: 1, tracks: [1, 9, 2] },
    { level: 3, tile: 2, tracks: [9] },
    { level: 8, tile: 0, tracks: [1, 2] },
  ];
  assert.deepEqual(slowLast(wishes, (track) => track === 9), [
    { level: 3, tile: 1, tracks: [1, 2] },
    { level: 8, tile: 0, tracks: [1, 2] },
    { level: 3, tile: 1, tracks: [9] },
    { level: 3, tile: 2, tracks: [9] },
  ]);
});
