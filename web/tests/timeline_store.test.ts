import assert from "node:assert/strict";
import { test } from "node:test";
import { TileCache } from "../src/timeline/tile_cache";
import { TileStore, type Answer, type Wanted } from "../src/timeline/tile_store";

type Piece = [block: string, start: number, end: number];

function coverOf(cache: TileCache<string>, level: number, tile: number): Piece[] {
  const pieces: Piece[] = [];
  cache.cover(1, level, tile, (block, start, end) => pieces.push([block, start, end]));
  return pieces;
}

test("a tile that is there is drawn alone", () => {
  const cache = new TileCache<string>(1000);
  cache.set(1, 1, 0, "self", 1);
  cache.set(1, 2, 0, "coarser", 1);
  assert.deepEqual(coverOf(cache, 1, 0), [["self", 0, 2048]]);
});

test("a missing tile is covered by finer ones, and by a coarser one between them", () => {
  const cache = new TileCache<string>(1000);
  cache.set(1, 5, 0, "coarse", 1);
  assert.deepEqual(coverOf(cache, 2, 1), [["coarse", 4096, 8192]]);
  cache.set(1, 1, 3, "finer", 1);
  assert.deepEqual(coverOf(cache, 2, 1), [["coarse", 4096, 6144], ["finer", 6144, 8192]]);
  cache.set(1, 0, 4, "finest", 1);
  assert.deepEqual(coverOf(cache, 2, 1), [["finest", 4096, 5120], ["coarse", 5120, 6144], ["finer", 6144, 8192]]);
});

test("nothing is drawn of a track that has nothing yet", () => {
  assert.deepEqual(coverOf(new TileCache<string>(10), 3, 3), []);
});

test("the cache lets go of what was not drawn the longest", () => {
  const cache = new TileCache<string>(10);
  for (let tile = 0; tile < 10; ++tile) {
    cache.tick();
    cache.set(1, 0, tile, "x", 1);
  }
  cache.tick();
  cache.get(1, 0, 0);
  cache.tick();
  cache.set(1, 0, 10, "x", 1); // one too many
  assert.ok(cache.has(1, 0, 0) && cache.has(1, 0, 10));
  assert.ok(!cache.has(1, 0, 1) && !cache.has(1, 0, 2));
});

interface Asked {
  wanted: Wanted;
  signal: AbortSignal;
  answer: (answer: Answer<string>) => void;
  fail: (error: Error) => void;
}

function storeOf(atOnce: number): { store: TileStore<string>; asked: Asked[]; failures: unknown[]; arrivals: () => number } {
  const asked: Asked[] = [];
  const failures: unknown[] = [];
  let arrived = 0;
  const store = new TileStore<string>({
    load: (wanted, signal) => new Promise((answer, fail) => asked.push({ wanted, signal, answer, fail })),
    nothing: () => "nothing",
    atOnce,
    capacity: 1e6,
    onTile: () => ++arrived,
    onFailure: (error) => failures.push(error),
    isFinal: (error) => error instanceof RangeError,
  });
  return { store, asked, failures, arrivals: () => arrived };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("no more requests than allowed are on their way, the most wanted first", async () => {
  const { store, asked } = storeOf(2);
  store.want([5, 6, 7].map((tile) => ({ level: 0, tile, tracks: [1] })));
  assert.deepEqual(asked.map((each) => each.wanted.tile), [5, 6]);
  asked[0]?.answer({ blocks: new Map([[1, "five"]]), bytes: 8 });
  await settled();
  assert.deepEqual(asked.map((each) => each.wanted.tile), [5, 6, 7]);
  assert.equal(store.get(1, 0, 5), "five");
});

test("a request that nobody wants any more is dropped", async () => {
  const { store, asked, failures } = storeOf(1);
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  store.want([{ level: 0, tile: 2, tracks: [1] }]);
  assert.ok(asked[0]?.signal.aborted);
  asked[0].fail(new Error("given up"));
  await settled();
  assert.deepEqual(failures, []);
  assert.equal(asked[1]?.wanted.tile, 2);
});

test("tracks that are there or on their way are not asked for again", async () => {
  const { store, asked } = storeOf(6);
  store.want([{ level: 0, tile: 1, tracks: [1, 2] }]);
  store.want([{ level: 0, tile: 1, tracks: [1, 2, 3] }]);
  assert.deepEqual(asked.map((each) => each.wanted.tracks), [[1, 2], [3]]);
  asked[0]?.answer({ blocks: new Map([[1, "one"]]), bytes: 8 });
  await settled();
  assert.equal(store.get(2, 0, 1), "nothing");
  store.want([{ level: 0, tile: 1, tracks: [1, 2, 3] }]);
  assert.equal(asked.length, 2);
});

test("a tile that the server refuses is reported once and not asked for again", async () => {
  const { store, asked, failures } = storeOf(1);
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  asked[0]?.fail(new RangeError("no such tile"));
  await settled();
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  assert.equal(asked.length, 1);
  assert.equal(failures.length, 1);
});

test("a tile that did not come is asked for again", async () => {
  const { store, asked, failures } = storeOf(1);
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  asked[0]?.fail(new Error("nobody answers"));
  await settled();
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  assert.equal(asked.length, 2);
  assert.equal(failures.length, 1);
});

test("after a trace was read again everything is asked for, and what was there is drawn until it comes", async () => {
  const { store, asked } = storeOf(1);
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  asked[0]?.answer({ blocks: new Map([[1, "old"]]), bytes: 8 });
  await settled();
  store.renew();
  store.want([{ level: 0, tile: 1, tracks: [1] }]);
  assert.equal(asked.length, 2);
  assert.equal(store.get(1, 0, 1), "old");
  asked[1]?.answer({ blocks: new Map([[1, "new"]]), bytes: 8 });
  await settled();
  assert.equal(store.get(1, 0, 1), "new");
});
