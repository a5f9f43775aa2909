import assert from "node:assert/strict";
import { test } from "node:test";
import { TILE_MAGIC } from "../src/protocol";
import { decodeTile, levelFor, levelOfWhole, noSpans, spanAt, tilesIn, type Spans } from "../src/timeline/tile";

interface Written {
  start: number;
  duration: number;
  event: number;
  name: number;
  track: number;
  lane: number;
}

/** The layout of protocol.ts, byte by byte. */
function written(spans: Written[], names: string[]): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(names));
  const padded = (bytes: number): number => bytes + ((8 - (bytes % 8)) % 8);
  const n = spans.length;
  const bytes = new ArrayBuffer(16 + 16 * n + 5 * padded(4 * n) + padded(2 * n) + padded(n) + padded(text.length));
  const view = new DataView(bytes);
  [TILE_MAGIC, n, text.length, 0].forEach((value, i) => {
    view.setUint32(4 * i, value, true);
  });
  let at = 16;
  const column = (each: number, write: (position: number, span: Written) => void): void => {
    spans.forEach((span, i) => {
      write(at + i * each, span);
    });
    at += padded(each * n);
  };
  column(8, (position, span) => { view.setFloat64(position, span.start, true); });
  column(8, (position, span) => { view.setFloat64(position, span.duration, true); });
  column(4, (position, span) => { view.setUint32(position, span.event, true); });
  column(4, (position, span) => { view.setUint32(position, span.name, true); });
  column(4, (position) => { view.setUint32(position, 1, true); });
  column(4, (position, span) => { view.setUint32(position, span.track, true); });
  column(4, (position) => { view.setFloat32(position, 0.5, true); });
  column(2, (position, span) => { view.setUint16(position, span.lane, true); });
  column(1, (position) => { view.setUint8(position, 9); });
  new Uint8Array(bytes).set(text, at);
  return bytes;
}

function spansOf(lanes: [start: number, duration: number][][]): Spans {
  const flat = lanes.flatMap((lane, index) => lane.map(([start, duration], i) => ({ start, duration, event: i, name: 0, track: 3, lane: index })));
  return decodeTile(written(flat, ["a"])).get(3) ?? noSpans();
}

test("a tile is told apart by track and lane", () => {
  const tile = decodeTile(
    written(
      [
        { start: 100, duration: 50, event: 7, name: 1, track: 2, lane: 0 },
        { start: 110, duration: 10, event: 8, name: 0, track: 2, lane: 2 },
        { start: 0.5, duration: 1e15, event: 4_000_000_000, name: 0, track: 9, lane: 0 },
      ],
      ["aten::mm", "größer <b>"],
    ),
  );
  assert.deepEqual([...tile.keys()], [2, 9]);
  const two = tile.get(2) ?? noSpans();
  assert.equal(two.count, 2);
  assert.deepEqual([...two.start], [100, 110]);
  assert.deepEqual([...two.firstOfLane], [0, 1, 1, 2]); // lane 1 is empty
  assert.equal(two.names[two.name[0] ?? -1], "größer <b>");
  assert.equal(two.color[1], 9);
  assert.equal(two.busy[0], 0.5);
  const nine = tile.get(9) ?? noSpans();
  assert.equal(nine.event[0], 4_000_000_000);
  assert.equal(nine.duration[0], 1e15);
});

test("an empty tile has no tracks", () => {
  assert.equal(decodeTile(written([], [])).size, 0);
});

test("bytes that are not a tile, or not all of one, are refused", () => {
  const whole = written([{ start: 1, duration: 2, event: 3, name: 0, track: 1, lane: 0 }], ["x"]);
  assert.throws(() => decodeTile(new ArrayBuffer(3)), /not a tile/);
  assert.throws(() => decodeTile(new TextEncoder().encode('{"error": "no such tile"}').buffer), /not a tile/);
  for (let cut = 16; cut < whole.byteLength - 4; cut += 8) assert.throws(() => decodeTile(whole.slice(0, cut)));
});

test("a bucket is at most a pixel wide and more than half of one", () => {
  for (const nsPerPixel of [1, 1.5, 2, 3.999, 4, 1000, 123_456_789]) {
    const bucket = 2 ** levelFor(nsPerPixel);
    assert.ok(bucket <= nsPerPixel && bucket > nsPerPixel / 2, `${nsPerPixel} ns a pixel: ${bucket}`);
  }
  assert.equal(levelFor(0.01), 0);
});

test("one tile of the whole trace's level holds all of it", () => {
  for (const duration of [1, 1024, 1025, 48_500_000, 3.6e12]) {
    const level = levelOfWhole(duration);
    assert.ok(1024 * 2 ** level >= duration);
    assert.ok(level === 0 || 1024 * 2 ** (level - 1) < duration);
  }
});

test("the tiles of a window are those it touches, inside the trace", () => {
  assert.deepEqual(tilesIn(0, 0, 1024, 10_000), { first: 0, last: 0 });
  assert.deepEqual(tilesIn(0, 1023, 2049, 10_000), { first: 0, last: 2 });
  assert.deepEqual(tilesIn(1, -500, 4097, 10_000), { first: 0, last: 2 });
  assert.deepEqual(tilesIn(0, 9_000, 90_000, 10_000), { first: 8, last: 9 });
  assert.deepEqual(tilesIn(0, -900, -100, 10_000), { first: 0, last: 0 });
  assert.deepEqual(tilesIn(3, 0, 50, 0), { first: 0, last: 0 });
});

test("a point finds the span under it, or the nearest within reach", () => {
  const spans = spansOf([
    [[0, 100]],
    [[10, 10], [30, 5], [60, 20]],
  ]);
  assert.equal(spanAt(spans, 0, 50, 0), 0);
  assert.equal(spanAt(spans, 1, 32, 0), 2);
  assert.equal(spanAt(spans, 1, 25, 0), -1);
  assert.equal(spanAt(spans, 1, 22, 3), 1); // 2 from the first, 8 from the second
  assert.equal(spanAt(spans, 1, 28, 3), 2);
  assert.equal(spanAt(spans, 1, 500, 3), -1);
  assert.equal(spanAt(spans, 7, 50, 100), -1);
  assert.equal(spanAt(noSpans(), 0, 0, 10), -1);
});
