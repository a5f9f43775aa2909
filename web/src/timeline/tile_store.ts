/**
 * Brings the tiles that a picture wants: a few requests at a time, the most wanted first; what is no longer wanted is
 * dropped, also on its way. No DOM here: how a tile is asked for comes from outside.
 */
import type { TrackId } from "../protocol";
import { type Draw, TileCache } from "./tile_cache";

/** One request: the tracks that lack this tile. */
export interface Wanted {
  level: number;
  tile: number;
  tracks: TrackId[];
}

export interface Answer<Block> {
  blocks: Map<TrackId, Block>;
  bytes: number;
}

export type Load<Block> = (wanted: Wanted, signal: AbortSignal) => Promise<Answer<Block>>;

interface Flight {
  wanted: Wanted;
  stop: AbortController;
}

const TRACKS_A_REQUEST = 100;

export interface StoreOptions<Block> {
  load: Load<Block>;
  nothing: () => Block; // for a track that has nothing in the tile
  atOnce: number;
  capacity: number; // bytes
  onTile: () => void;
  onFailure: (error: unknown) => void;
  isFinal: (error: unknown) => boolean; // asking again would change nothing
}

export class TileStore<Block> {
  private readonly cache: TileCache<Block>;
  private queue: Wanted[] = [];
  private flights: Flight[] = [];
  private readonly refused = new Set<string>();
  version = 0; // another one: something else is there

  constructor(private readonly options: StoreOptions<Block>) {
    this.cache = new TileCache<Block>(options.capacity);
  }

  get pending(): number {
    return this.queue.length + this.flights.length;
  }

  tick(): void {
    this.cache.tick();
  }

  /** The trace was read again: everything is asked for anew, and what is there is drawn until then. */
  renew(): void {
    for (const flight of this.flights) flight.stop.abort();
    this.flights = [];
    this.queue = [];
    this.refused.clear();
    this.cache.renew();
  }

  has(track: TrackId, level: number, tile: number): boolean {
    return this.cache.has(track, level, tile);
  }

  get(track: TrackId, level: number, tile: number): Block | undefined {
    return this.cache.get(track, level, tile);
  }

  cover(track: TrackId, level: number, tile: number, draw: Draw<Block>): boolean {
    return this.cache.cover(track, level, tile, draw);
  }

  /** Replaces all earlier wishes. The most wanted first; what is there or on its way already is left out. */
  want(wishes: readonly Wanted[]): void {
    const wishedKeys = new Set(wishes.map(keyOf));
    for (const flight of this.flights) {
      if (!wishedKeys.has(keyOf(flight.wanted))) flight.stop.abort();
    }
    this.flights = this.flights.filter((flight) => !flight.stop.signal.aborted);
    this.queue = [];
    for (const wish of wishes) {
      if (this.refused.has(keyOf(wish))) continue;
      const coming = new Set(this.flights.filter((flight) => keyOf(flight.wanted) === keyOf(wish)).flatMap((flight) => flight.wanted.tracks));
      const missing = wish.tracks.filter((track) => !coming.has(track) && !this.cache.has(track, wish.level, wish.tile));
      for (let first = 0; first < missing.length; first += TRACKS_A_REQUEST) {
        this.queue.push({ level: wish.level, tile: wish.tile, tracks: missing.slice(first, first + TRACKS_A_REQUEST) });
      }
    }
    this.begin();
  }

  /** One tile at once, beside all wishes. */
  async bring(wanted: Wanted): Promise<void> {
    const missing = wanted.tracks.filter((track) => !this.cache.has(track, wanted.level, wanted.tile));
    if (missing.length === 0) return;
    const lacking = { ...wanted, tracks: missing };
    this.keep(lacking, await this.options.load(lacking, new AbortController().signal));
  }

  private begin(): void {
    while (this.flights.length < this.options.atOnce) {
      const wanted = this.queue.shift();
      if (!wanted) return;
      void this.fly({ wanted, stop: new AbortController() });
    }
  }

  private async fly(flight: Flight): Promise<void> {
    this.flights.push(flight);
    try {
      const answer = await this.options.load(flight.wanted, flight.stop.signal);
      this.keep(flight.wanted, answer);
      this.options.onTile();
    } catch (error) {
      if (!flight.stop.signal.aborted) {
        if (this.options.isFinal(error)) this.refused.add(keyOf(flight.wanted));
        this.options.onFailure(error);
      }
    } finally {
      this.flights = this.flights.filter((other) => other !== flight);
      this.begin();
    }
  }

  private keep(wanted: Wanted, answer: Answer<Block>): void {
    ++this.version;
    const weight = answer.bytes / Math.max(1, wanted.tracks.length) + 200;
    for (const track of wanted.tracks) {
      this.cache.set(track, wanted.level, wanted.tile, answer.blocks.get(track) ?? this.options.nothing(), weight);
    }
  }
}

function keyOf(wanted: Wanted): string {
  return `${wanted.level}/${wanted.tile}`;
}
