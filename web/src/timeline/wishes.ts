/** Which tiles a picture wants, the most urgent first. Pure. */
import type { Nanoseconds, TrackId } from "../protocol";
import { levelFor, levelOfWhole, tilesIn } from "./tile";
import type { Wanted } from "./tile_store";
import type { Viewport } from "./viewport";

export interface Scene {
  view: Viewport;
  pixels: number; // device pixels of the view
  duration: Nanoseconds; // of the trace
  tracks: readonly TrackId[]; // on the screen
}

export function levelOfScene(scene: Scene): number {
  return Math.min(levelFor((scene.view.end - scene.view.start) / Math.max(1, scene.pixels)), levelOfWhole(scene.duration));
}

/** What is on the screen from its middle outward, then the trace as a whole to fall back on, then what lies beside. */
export function wishesOf(scene: Scene): Wanted[] {
  if (scene.tracks.length === 0) return [];
  const level = levelOfScene(scene);
  const { first, last } = tilesIn(level, scene.view.start, scene.view.end, scene.duration);
  const middle = (first + last) / 2;
  const tiles: number[] = [];
  for (let tile = first; tile <= last; ++tile) tiles.push(tile);
  tiles.sort((left, right) => Math.abs(left - middle) - Math.abs(right - middle));
  const tracks = [...scene.tracks];
  const wishes: Wanted[] = tiles.map((tile) => ({ level, tile, tracks }));
  const whole = levelOfWhole(scene.duration);
  if (level < whole) wishes.push({ level: whole, tile: 0, tracks });
  const beyond = tilesIn(level, 0, scene.duration, scene.duration).last;
  if (last < beyond) wishes.push({ level, tile: last + 1, tracks });
  if (first > 0) wishes.push({ level, tile: first - 1, tracks });
  return wishes;
}

/** The same, with tracks whose answer may take long apart and last, so that nothing waits for them. */
export function slowLast(wishes: readonly Wanted[], isSlow: (track: TrackId) => boolean): Wanted[] {
  const part = (wanted: boolean): Wanted[] =>
    wishes.map((wish) => ({ ...wish, tracks: wish.tracks.filter((track) => isSlow(track) === wanted) })).filter((wish) => wish.tracks.length > 0);
  return [...part(false), ...part(true)];
}
