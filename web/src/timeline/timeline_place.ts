/** What the timeline keeps in the URL, as fields of a place. Pure. */
import { type Change, type Place, numberIn } from "../place";
import type { EventId, Nanoseconds, TrackId } from "../protocol";
import type { Arrangement, Move } from "./track_layout";
import type { Viewport } from "./viewport";

/** A chosen range of time, of some tracks or (null) of all. */
export interface Range {
  start: Nanoseconds;
  end: Nanoseconds;
  tracks: readonly TrackId[] | null;
}

const NONE = "none";

export function viewIn(place: Place): Viewport | null {
  const start = numberIn(place, "start");
  const end = numberIn(place, "end");
  return start !== null && end !== null && end > start ? { start, end } : null;
}

export function viewFields(view: Viewport): Change {
  return { start: Math.round(view.start), end: Math.max(Math.round(view.start) + 1, Math.round(view.end)) };
}

export function eventIn(place: Place): EventId | null {
  const event = numberIn(place, "event");
  return event !== null && Number.isInteger(event) && event >= 0 ? event : null;
}

/** "range=1000-2000", "range=1000-2000:4,5" */
export function rangeIn(place: Place): Range | null {
  const [, start, end, tracks] = /^(\d+)-(\d+)(?::([\d,]+))?$/.exec(place["range"] ?? "") ?? [];
  if (start === undefined || end === undefined || Number(end) <= Number(start)) return null;
  return { start: Number(start), end: Number(end), tracks: tracks === undefined ? null : numbersIn(tracks) };
}

export function rangeFields(range: Range | null): Change {
  if (!range) return { range: null };
  const tracks = range.tracks ? `:${range.tracks.join(",")}` : "";
  return { range: `${String(Math.max(0, Math.round(range.start)))}-${String(Math.round(range.end))}${tracks}` };
}

export function arrangementIn(place: Place): Arrangement {
  const collapsed = place["collapsed"];
  return {
    pinned: numbersIn(place["pinned"]),
    collapsed: collapsed === undefined ? null : collapsed.split(",").filter((key) => /^[tp]\d+$/.test(key)),
    hidden: numbersIn(place["hidden"]),
    moves: movesIn(place["order"]),
    filter: place["tracks"] ?? "",
  };
}

export function arrangementFields(arrangement: Arrangement): Change {
  return {
    pinned: arrangement.pinned.join(","),
    collapsed: arrangement.collapsed === null ? null : arrangement.collapsed.join(",") || NONE,
    hidden: arrangement.hidden.join(","),
    order: arrangement.moves.map((move) => `${move.track}-${move.before === null ? "" : String(move.before)}`).join(","),
    tracks: arrangement.filter,
  };
}

function numbersIn(text: string | undefined): number[] {
  return [...new Set((text ?? "").split(",").filter((each) => /^\d+$/.test(each)).map(Number))];
}

function movesIn(text: string | undefined): Move[] {
  const moves: Move[] = [];
  for (const each of (text ?? "").split(",")) {
    const [, track, before] = /^(\d+)-(\d*)$/.exec(each) ?? [];
    if (track !== undefined) moves.push({ track: Number(track), before: before === "" ? null : Number(before) });
  }
  return moves;
}
