/**
 * What the server answered, by track, level and tile: the least recently drawn goes first when it is too much.
 * What is not there yet is covered by finer and coarser tiles that are. No DOM here.
 */
import type { Nanoseconds, TrackId } from "../protocol";
import { tileWidth } from "./tile";

interface Entry<Block> {
  block: Block;
  weight: number;
  used: number;
  generation: number;
}

const LEVEL_FACTOR = 2 ** 46; // tiles of one level are fewer
const FINER_LEVELS = 3; // tried before coarser ones
const COARSER_LEVELS = 44;

export type Draw<Block> = (block: Block, start: Nanoseconds, end: Nanoseconds) => void;

export class TileCache<Block> {
  private readonly byTrack = new Map<TrackId, Map<number, Entry<Block>>>();
  private weight = 0;
  private now = 0;
  private generation = 0;

  constructor(private readonly capacity: number) {}

  /** Begins a frame: what is asked for from here on is newer than all before. */
  tick(): void {
    ++this.now;
  }

  /** From now on nothing that is here counts as there; it is still drawn until its successor comes. */
  renew(): void {
    ++this.generation;
  }

  /** Whoever asks wants to keep it. */
  has(track: TrackId, level: number, tile: number): boolean {
    const entry = this.byTrack.get(track)?.get(keyOf(level, tile));
    if (entry?.generation !== this.generation) return false;
    entry.used = this.now;
    return true;
  }

  get(track: TrackId, level: number, tile: number): Block | undefined {
    const entry = this.byTrack.get(track)?.get(keyOf(level, tile));
    if (entry) entry.used = this.now;
    return entry?.block;
  }

  set(track: TrackId, level: number, tile: number, block: Block, weight: number): void {
    let tiles = this.byTrack.get(track);
    if (!tiles) this.byTrack.set(track, (tiles = new Map<number, Entry<Block>>()));
    const key = keyOf(level, tile);
    this.weight += weight - (tiles.get(key)?.weight ?? 0);
    tiles.set(key, { block, weight, used: this.now, generation: this.generation });
    if (this.weight > this.capacity) this.shrink();
  }

  /**
   * Draws a tile from what is there: itself; else finer tiles, as many as there are, and the nearest coarser one
   * between them. True where it was there itself.
   */
  cover(track: TrackId, level: number, tile: number, draw: Draw<Block>): boolean {
    const width = tileWidth(level);
    const block = this.get(track, level, tile);
    if (block !== undefined) {
      draw(block, tile * width, (tile + 1) * width);
      return true;
    }
    if (this.byTrack.has(track)) this.coverOtherwise(track, level, tile, FINER_LEVELS, draw);
    return false;
  }

  private coverOtherwise(track: TrackId, level: number, tile: number, depth: number, draw: Draw<Block>): void {
    if (depth > 0 && this.hasFiner(track, level, tile, depth)) {
      for (const half of [2 * tile, 2 * tile + 1]) {
        const finer = this.get(track, level - 1, half);
        const width = tileWidth(level - 1);
        if (finer !== undefined) draw(finer, half * width, (half + 1) * width);
        else this.coverOtherwise(track, level - 1, half, depth - 1, draw);
      }
      return;
    }
    const width = tileWidth(level);
    for (let up = 1; up <= COARSER_LEVELS; ++up) {
      const coarser = this.get(track, level + up, Math.floor(tile / 2 ** up));
      if (coarser === undefined) continue;
      draw(coarser, tile * width, (tile + 1) * width);
      return;
    }
  }

  private hasFiner(track: TrackId, level: number, tile: number, depth: number): boolean {
    if (level === 0 || depth === 0) return false;
    return [2 * tile, 2 * tile + 1].some((half) => this.has(track, level - 1, half) || this.hasFiner(track, level - 1, half, depth - 1));
  }

  /** To three quarters of the capacity; what the present frame uses stays. */
  private shrink(): void {
    const all: { used: number; weight: number; track: TrackId; key: number }[] = [];
    for (const [track, tiles] of this.byTrack) {
      for (const [key, entry] of tiles) {
        if (entry.used < this.now) all.push({ used: entry.used, weight: entry.weight, track, key });
      }
    }
    all.sort((left, right) => left.used - right.used);
    for (const { weight, track, key } of all) {
      if (this.weight <= this.capacity * 0.75) break;
      const tiles = this.byTrack.get(track);
      tiles?.delete(key);
      if (tiles?.size === 0) this.byTrack.delete(track);
      this.weight -= weight;
    }
  }
}

function keyOf(level: number, tile: number): number {
  return level * LEVEL_FACTOR + tile;
}
