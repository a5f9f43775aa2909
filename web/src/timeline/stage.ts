/**
 * Where on the screen things of the timeline are, in CSS pixels of its canvas: the ruler on top, below it the pinned
 * tracks, below them the others, each scrolled. Pure.
 */
import type { Nanoseconds, TrackId } from "../protocol";
import { type Layout, type Row, laneAt, rowsBetween, trackKey } from "./track_layout";
import type { Viewport } from "./viewport";

export const RULER = { ticks: 20, steps: 18, flags: 17, height: 57 } as const;
const PINNED_AT_MOST = 0.6; // of the room below the ruler

export interface Stage {
  width: number;
  height: number;
  view: Viewport;
  layout: Layout;
  scroll: number;
  pinnedScroll: number; // of the pinned tracks, where they are higher than their room
}

/** A row where it is on the screen. */
export interface PlacedRow {
  row: Row;
  y: number;
}

export function pinnedHeight(stage: Stage): number {
  return Math.min(stage.layout.pinnedHeight, Math.round((stage.height - RULER.height) * PINNED_AT_MOST));
}

/** Where the tracks that scroll begin. */
export function scrollTop(stage: Stage): number {
  return RULER.height + pinnedHeight(stage);
}

export function largestScroll(stage: Stage): number {
  return Math.max(0, stage.layout.height - Math.max(0, stage.height - scrollTop(stage)));
}

export function largestPinnedScroll(stage: Stage): number {
  return Math.max(0, stage.layout.pinnedHeight - pinnedHeight(stage));
}

export function pixelsPerNs(stage: Stage): number {
  return stage.width / (stage.view.end - stage.view.start);
}

export function xOf(stage: Stage, time: Nanoseconds): number {
  return (time - stage.view.start) * pixelsPerNs(stage);
}

export function timeAt(stage: Stage, x: number): Nanoseconds {
  return stage.view.start + x / pixelsPerNs(stage);
}

export function visibleRows(stage: Stage): PlacedRow[] {
  const top = scrollTop(stage);
  const pinned = rowsBetween(stage.layout.pinned, stage.pinnedScroll, stage.pinnedScroll + pinnedHeight(stage));
  const others = rowsBetween(stage.layout.rows, stage.scroll, stage.scroll + Math.max(0, stage.height - top));
  return [
    ...pinned.map((row) => ({ row, y: RULER.height + row.top - stage.pinnedScroll })),
    ...others.map((row) => ({ row, y: top + row.top - stage.scroll })),
  ];
}

/** The row and lane at a height of the screen. */
export function rowAt(stage: Stage, y: number): { row: Row; lane: number; y: number } | null {
  if (y < RULER.height) return null;
  const top = scrollTop(stage);
  if (y < top) {
    const found = laneAt(stage.layout.pinned, y - RULER.height + stage.pinnedScroll);
    return found && { ...found, y: RULER.height + found.row.top - stage.pinnedScroll };
  }
  const found = laneAt(stage.layout.rows, y - top + stage.scroll);
  return found && { ...found, y: top + found.row.top - stage.scroll };
}

/** Where a track is, also where that is off the screen; null for one that is not shown. */
export function placeOfTrack(stage: Stage, track: TrackId): PlacedRow | null {
  const row = stage.layout.byKey.get(trackKey(track));
  if (!row) return null;
  return { row, y: row.isPinned ? RULER.height + row.top - stage.pinnedScroll : scrollTop(stage) + row.top - stage.scroll };
}

/** The tracks between two heights of the screen, of those that scroll and those that are pinned. */
export function tracksBetween(stage: Stage, from: number, to: number): TrackId[] {
  const found: TrackId[] = [];
  for (const { row, y } of visibleRows(stage)) {
    if (row.track && y < to && y + row.height > from) found.push(row.track.id);
  }
  return found;
}

/** Where tracks are scrolled to. */
export interface Scrolls {
  scroll: number;
  pinnedScroll: number;
}

/** The scroll that brings a lane of a track onto the screen, the present one where it is there. */
export function scrollShowing(stage: Stage, track: TrackId, lane: number): Scrolls {
  const { scroll, pinnedScroll } = stage;
  const place = placeOfTrack(stage, track);
  if (!place) return { scroll, pinnedScroll };
  const { row } = place;
  const top = row.top + lane * row.laneHeight;
  const shown = (now: number, room: number, largest: number): number => {
    const isSeen = top >= now && top + row.laneHeight <= now + room;
    return isSeen ? now : Math.min(Math.max(0, top - room / 3), largest);
  };
  if (row.isPinned) return { scroll, pinnedScroll: shown(pinnedScroll, pinnedHeight(stage), largestPinnedScroll(stage)) };
  return { scroll: shown(scroll, Math.max(0, stage.height - scrollTop(stage)), largestScroll(stage)), pinnedScroll };
}
