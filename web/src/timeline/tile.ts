/**
 * Tiles of the timeline: which ones a window needs, and what a binary answer of api/tiles holds (see protocol.ts).
 * No DOM here.
 */
import { TILE_BUCKETS, TILE_MAGIC, type Nanoseconds, type TrackId } from "../protocol";

/** What is drawn of one track inside one tile, by lane and start: one entry a span in every column. */
export interface Spans {
  count: number;
  start: Float64Array;
  duration: Float64Array;
  event: Uint32Array;
  name: Uint32Array;
  events: Uint32Array;
  busy: Float32Array;
  color: Uint8Array;
  names: readonly string[];
  firstOfLane: Uint32Array; // by lane, with one entry more: the end of the last
}

const HIGHEST_LEVEL = 53 - Math.log2(TILE_BUCKETS); // beyond it times are no longer whole numbers

export function tileWidth(level: number): Nanoseconds {
  return TILE_BUCKETS * 2 ** level;
}

/** The level at which a bucket is at most one device pixel wide. */
export function levelFor(nsPerPixel: number): number {
  if (!(nsPerPixel > 1)) return 0;
  return Math.min(Math.floor(Math.log2(nsPerPixel)), HIGHEST_LEVEL);
}

/** The finest level at which one tile holds all of [0, duration). */
export function levelOfWhole(duration: Nanoseconds): number {
  if (!(duration > TILE_BUCKETS)) return 0;
  return Math.min(Math.ceil(Math.log2(duration / TILE_BUCKETS)), HIGHEST_LEVEL);
}

/** First and last tile of a level that a window touches, kept inside the trace. */
export function tilesIn(level: number, start: Nanoseconds, end: Nanoseconds, duration: Nanoseconds): { first: number; last: number } {
  const width = tileWidth(level);
  const beyond = Math.max(0, Math.floor(Math.max(0, duration - 1) / width));
  const first = Math.min(Math.max(0, Math.floor(start / width)), beyond);
  const last = Math.min(Math.max(first, Math.ceil(end / width) - 1), beyond);
  return { first, last };
}

/** The answer of api/tiles by track. Throws where the bytes are not a tile. */
export function decodeTile(bytes: ArrayBuffer): Map<TrackId, Spans> {
  const head = bytes.byteLength >= 16 ? new Uint32Array(bytes, 0, 4) : null;
  if (head?.[0] !== TILE_MAGIC) throw new Error("The server's answer is not a tile of the timeline.");
  const count = head[1] ?? 0;
  const nameBytes = head[2] ?? 0;
  let at = 16;
  const column = (bytesEach: number): number => {
    const from = at;
    at += Math.ceil((count * bytesEach) / 8) * 8;
    if (at > bytes.byteLength) throw new Error("The server's answer, a tile of the timeline, is cut off.");
    return from;
  };
  const start = new Float64Array(bytes, column(8), count);
  const duration = new Float64Array(bytes, column(8), count);
  const event = new Uint32Array(bytes, column(4), count);
  const name = new Uint32Array(bytes, column(4), count);
  const events = new Uint32Array(bytes, column(4), count);
  const track = new Uint32Array(bytes, column(4), count);
  const busy = new Float32Array(bytes, column(4), count);
  const lane = new Uint16Array(bytes, column(2), count);
  const color = new Uint8Array(bytes, column(1), count);
  if (at + nameBytes > bytes.byteLength) throw new Error("The server's answer, a tile of the timeline, is cut off.");
  const names = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, at, nameBytes)) || "[]") as string[];

  const byTrack = new Map<TrackId, Spans>();
  for (let first = 0; first < count; ) {
    const id = track[first] ?? 0;
    let last = first + 1;
    while (last < count && track[last] === id) ++last;
    byTrack.set(id, {
      count: last - first,
      start: start.subarray(first, last),
      duration: duration.subarray(first, last),
      event: event.subarray(first, last),
      name: name.subarray(first, last),
      events: events.subarray(first, last),
      busy: busy.subarray(first, last),
      color: color.subarray(first, last),
      names,
      firstOfLane: firstOfLane(lane.subarray(first, last)),
    });
    first = last;
  }
  return byTrack;
}

/** The answer for a track that has nothing in a tile. */
export function noSpans(): Spans {
  return {
    count: 0,
    start: new Float64Array(0),
    duration: new Float64Array(0),
    event: new Uint32Array(0),
    name: new Uint32Array(0),
    events: new Uint32Array(0),
    busy: new Float32Array(0),
    color: new Uint8Array(0),
    names: [],
    firstOfLane: new Uint32Array(1),
  };
}

function firstOfLane(lane: Uint16Array): Uint32Array {
  const lanes = (lane[lane.length - 1] ?? 0) + 1;
  const firsts = new Uint32Array(lanes + 1);
  for (const each of lane) firsts[each + 1] = (firsts[each + 1] ?? 0) + 1;
  for (let each = 0; each < lanes; ++each) firsts[each + 1] = (firsts[each + 1] ?? 0) + (firsts[each] ?? 0);
  return firsts;
}

/** The span of a lane that covers a time, or the nearest within `slack`; -1 where there is none. */
export function spanAt(spans: Spans, lane: number, time: Nanoseconds, slack: Nanoseconds): number {
  const from = spans.firstOfLane[lane];
  const to = spans.firstOfLane[lane + 1];
  if (from === undefined || to === undefined || from === to) return -1;
  const after = firstAfter(spans, from, to, time);
  let best = -1;
  let bestDistance = slack;
  for (const each of [after - 1, after]) {
    if (each < from || each >= to) continue;
    const start = spans.start[each] ?? 0;
    const distance = Math.max(0, start - time, time - start - (spans.duration[each] ?? 0));
    if (distance < bestDistance || (distance === 0 && best < 0)) {
      best = each;
      bestDistance = distance;
    }
  }
  return best;
}

/** The first span of [from, to) that starts after a time; `to` where none does. */
export function firstAfter(spans: Spans, from: number, to: number, time: Nanoseconds): number {
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((spans.start[middle] ?? 0) <= time) from = middle + 1;
    else to = middle;
  }
  return from;
}
