import assert from "node:assert/strict";
import { test } from "node:test";
import type { Track, TraceShape } from "../src/protocol";
import { arrangementFields, arrangementIn, rangeFields, rangeIn, viewIn } from "../src/timeline/timeline_place";
import { changedPlace } from "../src/place";
import { laneAt, layoutOf, rowsBetween, unfolding, type Arrangement } from "../src/timeline/track_layout";

const AS_IS: Arrangement = { pinned: [], collapsed: [], hidden: [], moves: [], filter: "" };

function track(id: number, process: number, lanes: number, kind: Track["kind"] = "thread"): Track {
  return { id, kind, name: `${kind} ${id}`, process, device: null, lanes, events: 1, first_ns: 0, last_ns: 1, busy_ns: 1, unit: null, minimum: null, maximum: null };
}

function shapeOf(tracks: Track[], processes: number[] = [1]): TraceShape {
  return {
    file: "a", format: "", duration_ns: 1, events: 1, device_word: "GPU", devices: [], steps: [], colors: [], has_memory: false, has_modules: false, has_stacks: false, tracks,
    processes: processes.map((id) => ({ id, name: `process ${id}`, pid: null, rank: null })),
  };
}

const keys = (shape: TraceShape, arrangement: Partial<Arrangement>): string[] => layoutOf(shape, { ...AS_IS, ...arrangement }).rows.map((row) => row.key);

test("tracks stand below one another without overlap", () => {
  const { rows, height } = layoutOf(shapeOf([track(1, 1, 3), track(2, 1, 1, "gaps"), track(3, 1, 0, "counter")]), AS_IS);
  let bottom = 0;
  for (const row of rows) {
    assert.equal(row.top, bottom);
    bottom += row.height;
  }
  assert.equal(height, bottom);
  assert.ok((rows[0]?.height ?? 0) >= 3 * 18);
});

test("processes have a line of their own where there are several", () => {
  const tracks = [track(1, 1, 1), track(2, 1, 1), track(3, 2, 1)];
  assert.deepEqual(keys(shapeOf(tracks), {}), ["t1", "t2", "t3"]);
  assert.deepEqual(keys(shapeOf(tracks, [1, 2]), {}), ["p1", "t1", "t2", "p2", "t3"]);
  assert.deepEqual(keys(shapeOf(tracks, [1, 2]), { collapsed: ["p1"] }), ["p1", "p2", "t3"]);
});

test("what a recorder says of itself stands last, folded until it is looked for", () => {
  const [own, other] = [track(1, 1, 1, "recording"), track(4, 2, 1, "recording")];
  const shape = shapeOf([track(2, 1, 1, "stream"), track(3, 2, 1), own, other], [1, 2]);
  const atFirst = { ...AS_IS, collapsed: null };
  assert.deepEqual(keys(shape, atFirst), ["p1", "t2", "p2", "t3", "p3"]);
  const opened = unfolding(shape, atFirst, own);
  assert(opened);
  assert.equal(unfolding(shape, atFirst, track(2, 1, 1, "stream")), null);
  assert.deepEqual(layoutOf(shape, opened).rows.slice(-2).map((row) => row.key), ["t1", "t4"]);
  assert.deepEqual(keys(shapeOf([own]), { collapsed: null }), ["t1"], "unless there is nothing else");
});

test("tracks of a process stand together, and a track that was moved away gets its process's line again", () => {
  const shape = shapeOf([track(1, 1, 1), track(2, 2, 1), track(3, 1, 1)], [1, 2]);
  assert.deepEqual(keys(shape, {}), ["p1", "t1", "t3", "p2", "t2"]);
  assert.deepEqual(keys(shape, { moves: [{ track: 3, before: null }] }), ["p1", "t1", "p2", "t2", "p1/1", "t3"]);
  assert.deepEqual(keys(shape, { moves: [{ track: 3, before: null }], collapsed: ["p1"] }), ["p1", "p2", "t2", "p1/1"]);
});

test("hidden, filtered and pinned tracks leave the list, and pinned ones stand above it in the order of pinning", () => {
  const shape = shapeOf([track(1, 1, 1), track(2, 1, 1, "stream"), track(3, 1, 1)]);
  assert.deepEqual(keys(shape, { hidden: [2] }), ["t1", "t3"]);
  assert.deepEqual(keys(shape, { filter: " STREAM" }), ["t2"]);
  const layout = layoutOf(shape, { ...AS_IS, pinned: [3, 1, 99] });
  assert.deepEqual(layout.pinned.map((row) => row.key), ["t3", "t1"]);
  assert.deepEqual(layout.rows.map((row) => row.key), ["t2"]);
  assert.equal(layoutOf(shape, { ...AS_IS, filter: "stream" }).hiddenByFilter, 2);
});

test("moves are applied one after another", () => {
  const shape = shapeOf([track(1, 1, 1), track(2, 1, 1), track(3, 1, 1)]);
  assert.deepEqual(keys(shape, { moves: [{ track: 3, before: 1 }] }), ["t3", "t1", "t2"]);
  assert.deepEqual(keys(shape, { moves: [{ track: 3, before: 1 }, { track: 1, before: null }] }), ["t3", "t2", "t1"]);
  assert.deepEqual(keys(shape, { moves: [{ track: 77, before: 1 }, { track: 1, before: 1 }] }), ["t1", "t2", "t3"]);
});

test("very deep tracks start collapsed and can be opened", () => {
  const shape = shapeOf([track(1, 1, 400), track(2, 1, 8)]);
  const first = layoutOf(shape, { ...AS_IS, collapsed: null }).rows;
  assert.deepEqual(first.map((row) => row.isCollapsed), [true, false]);
  assert.equal(layoutOf(shape, AS_IS).rows[0]?.isCollapsed, false);
});

test("rows and lanes are found by height among ten thousand tracks", () => {
  const { rows, height } = layoutOf(shapeOf(Array.from({ length: 10_000 }, (_, i) => track(i, 1, 1 + (i % 5)))), AS_IS);
  for (const y of [0, 17, 1234.5, height / 2, height - 1]) {
    const slow = rows.filter((row) => row.top < y + 900 && row.top + row.height > y);
    assert.deepEqual(rowsBetween(rows, y, y + 900), slow);
  }
  const fifth = rows[5];
  assert.ok(fifth);
  assert.deepEqual(laneAt(rows, fifth.top + 1), { row: fifth, lane: 0 });
  const sixth = rows[6];
  assert.ok(sixth);
  assert.deepEqual(laneAt(rows, sixth.top + 19), { row: sixth, lane: 1 });
  assert.equal(laneAt(rows, sixth.top + sixth.height - 1), null); // the air below it
  assert.equal(laneAt(rows, height + 5), null);
});

test("what the user did to the tracks survives the URL", () => {
  const arrangement: Arrangement = { pinned: [4, 2], collapsed: ["t7", "p1"], hidden: [9], moves: [{ track: 3, before: 1 }, { track: 5, before: null }], filter: "str & <b>" };
  const fields = Object.fromEntries(Object.entries(changedPlace({}, arrangementFields(arrangement))));
  assert.deepEqual(arrangementIn(fields), arrangement);
  const none: Arrangement = { ...AS_IS, collapsed: [] };
  assert.deepEqual(arrangementIn(changedPlace({}, arrangementFields(none))), none);
  assert.deepEqual(arrangementIn({}), { ...AS_IS, collapsed: null });
  assert.deepEqual(arrangementIn({ pinned: "x,-1,3,3", order: "8", collapsed: "q1,t2" }), { ...AS_IS, pinned: [3], collapsed: ["t2"] });
});

test("a range survives the URL, and nonsense is no range", () => {
  for (const range of [{ start: 5, end: 900, tracks: null }, { start: 0, end: 1e15, tracks: [3, 1] }]) {
    assert.deepEqual(rangeIn(changedPlace({}, rangeFields(range))), range);
  }
  for (const text of ["", "5", "9-5", "a-b", "5-9:x", "5--9"]) assert.equal(rangeIn({ range: text }), null);
  assert.equal(viewIn({ start: "9", end: "9" }), null);
  assert.deepEqual(viewIn({ start: "-5", end: "9.5" }), { start: -5, end: 9.5 });
});
