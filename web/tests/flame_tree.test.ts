import assert from "node:assert/strict";
import { test } from "node:test";
import { flameTree, neighborOf, nodeAt, pathTo, search, windowOf } from "../src/flame/flame_tree";
import type { Flame } from "../src/protocol";

//  train                                  100
//  forward 60                    | backward 30
//  linear 20 | relu 10 | linear 30
const FLAME: Flame = {
  unit: "ns",
  total: 100,
  names: ["train", "forward", "backward", "Linear", "relu"],
  name: [0, 1, 2, 3, 4, 3],
  parent: [-1, 0, 0, 1, 1, 1],
  value: [100, 60, 30, 20, 10, 30],
  start: [0, 0, 60, 0, 20, 30],
  color: [0, 0, 0, 0, 0, 0],
  example: [null, 1, 2, 3, 4, 5],
  left_out: 0,
};

test("nodes are found where they are drawn", () => {
  const tree = flameTree(FLAME);
  assert.deepEqual(tree.levels.map((level) => [...level]), [[0], [1, 2], [3, 4, 5]]);
  const all = windowOf(tree, null);
  assert.equal(nodeAt(tree, all, 0, 0.99), 0);
  assert.equal(nodeAt(tree, all, 1, 0.59), 1);
  assert.equal(nodeAt(tree, all, 1, 0.6), 2);
  assert.equal(nodeAt(tree, all, 1, 0.95), null); // the last tenth is train's own
  assert.equal(nodeAt(tree, all, 2, 0.25), 4);
  assert.equal(nodeAt(tree, all, 3, 0.1), null);
});

test("a node that is zoomed to fills the width, and so do its callers", () => {
  const tree = flameTree(FLAME);
  const zoomed = windowOf(tree, 1);
  assert.deepEqual(zoomed, { start: 0, width: 60, path: [0, 1] });
  assert.equal(nodeAt(tree, zoomed, 0, 0.99), 0);
  assert.equal(nodeAt(tree, zoomed, 1, 0.99), 1);
  assert.equal(nodeAt(tree, zoomed, 2, 0.4), 4); // 24 of 60
  assert.deepEqual(pathTo(tree, 5), [0, 1, 5]);
});

test("a search counts each part once", () => {
  const tree = flameTree(FLAME);
  assert.deepEqual({ ...search(tree, "LINEAR"), marks: null }, { marks: null, nodes: 2, value: 50 });
  assert.deepEqual([...(search(tree, "linear")?.marks ?? [])], [0, 0, 0, 1, 0, 1]);
  assert.equal(search(tree, "r")?.value, 100); // train holds all the others
  assert.equal(search(tree, "ward")?.value, 90);
  assert.equal(search(tree, "nothing")?.nodes, 0);
  assert.equal(search(tree, "  "), null);
});

test("arrows go to the caller, the largest call and the neighbors of one caller", () => {
  const tree = flameTree(FLAME);
  assert.equal(neighborOf(tree, 1, "parent"), 0);
  assert.equal(neighborOf(tree, 0, "parent"), null);
  assert.equal(neighborOf(tree, 1, "child"), 5);
  assert.equal(neighborOf(tree, 2, "child"), null);
  assert.equal(neighborOf(tree, 3, "next"), 4);
  assert.equal(neighborOf(tree, 3, "previous"), null);
});

test("an empty graph has a window all the same", () => {
  const empty = flameTree({ ...FLAME, total: 0, names: [], name: [], parent: [], value: [], start: [], color: [], example: [] });
  assert.deepEqual(empty.levels, []);
  assert.ok(windowOf(empty, null).width > 0);
});
