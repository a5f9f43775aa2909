/** Tiles from the server: spans in bytes, counters in JSON. */
import { Refusal, ask, askBytes } from "../api";
import type { CounterTile, CounterTiles } from "../protocol";
import { type Spans, decodeTile, noSpans } from "./tile";
import { TileStore } from "./tile_store";
import type { Stores } from "./timeline_model";

const MEGABYTE = 1 << 20;

/** A refusal stays one; a server that does not answer may do so later. */
const isFinal = (error: unknown): boolean => error instanceof Refusal;

export interface StoresOptions {
  arrived: () => void;
  failed: (error: unknown) => void;
  seen: (spans: Spans) => void;
}

export function tileStores({ arrived, failed, seen }: StoresOptions): Stores {
  const spans = new TileStore<Spans>({
    async load({ level, tile, tracks }, signal) {
      const bytes = await askBytes("api/tiles", { level, tile, tracks: tracks.join(",") }, signal);
      const blocks = decodeTile(bytes);
      for (const block of blocks.values()) seen(block);
      return { blocks, bytes: bytes.byteLength };
    },
    nothing: noSpans,
    atOnce: 4,
    capacity: 200 * MEGABYTE,
    onTile: arrived,
    onFailure: failed,
    isFinal,
  });
  const counters = new TileStore<CounterTile>({
    async load({ level, tile, tracks }, signal) {
      const answer = await ask<CounterTiles>("api/counters", { level, tile, tracks: tracks.join(",") }, signal);
      const points = answer.counters.reduce((sum, counter) => sum + counter.time_ns.length, 0);
      return { blocks: new Map(answer.counters.map((counter) => [counter.track, counter])), bytes: 40 * points };
    },
    nothing: () => ({ track: -1, time_ns: [], minimum: [], maximum: [], last: [] }),
    atOnce: 2,
    capacity: 50 * MEGABYTE,
    onTile: arrived,
    onFailure: failed,
    isFinal,
  });
  return { spans, counters };
}
