/**
 * Which tracks are shown, in which order, how high and where. Pure; fast enough for tens of thousands of tracks, since
 * a picture looks up only the rows that it shows.
 */
import type { Process, Track, TrackId, TraceShape } from "../protocol";

/** What the user did to the tracks. */
export interface Arrangement {
  pinned: readonly TrackId[];
  collapsed: readonly string[] | null; // keys of rows; null: those that are best collapsed at first
  hidden: readonly TrackId[];
  moves: readonly Move[]; // one after another
  filter: string;
}

/** A track goes before another one; to the end where there is none. */
export interface Move {
  track: TrackId;
  before: TrackId | null;
}

/** A track, or the line with the name of a process above its tracks. */
export interface Row {
  key: string; // "t7" for the track 7, "p2" for the process 2, "p2/1" where the process comes again farther below
  foldKey: string; // what is collapsed with it: "t7", "p2"
  track: Track | null;
  process: Process;
  top: number;
  height: number;
  laneHeight: number;
  isCollapsed: boolean;
  isPinned: boolean;
}

export interface Layout {
  pinned: Row[]; // with tops of their own
  pinnedHeight: number;
  rows: Row[];
  height: number;
  hiddenByFilter: number;
  byKey: Map<string, Row>; // of both
}

export const LANE_HEIGHT = 18;
export const ROW_AIR = 5; // below each track
const GAPS_HEIGHT = 16;
const COUNTER_HEIGHT = 40;
const COLLAPSED_HEIGHT = 18;
const PROCESS_HEIGHT = 24;
const DEEP = 60; // lanes: deeper tracks start collapsed

export function trackKey(track: TrackId): string {
  return `t${track}`;
}
export function processKey(process: number): string {
  return `p${process}`;
}

export function layoutOf(shape: TraceShape, arrangement: Arrangement): Layout {
  const processes = new Map(shape.processes.map((process) => [process.id, process]));
  const collapsed = new Set(arrangement.collapsed ?? collapsedAtFirst(shape));
  const hidden = new Set(arrangement.hidden);
  const pinned = new Set(arrangement.pinned);
  const byId = new Map(shape.tracks.map((track) => [track.id, track]));
  const recorder = recorderOf(shape);
  const processOf = (track: Track): Process =>
    recorder && track.kind === "recording" ? recorder : (processes.get(track.process) ?? { id: track.process, name: "", pid: null, rank: null });

  const layout: Layout = { pinned: [], pinnedHeight: 0, rows: [], height: 0, hiddenByFilter: 0, byKey: new Map<string, Row>() };
  for (const id of arrangement.pinned) {
    const track = byId.get(id);
    if (!track || hidden.has(id)) continue;
    const row = trackRow(track, processOf(track), collapsed, layout.pinnedHeight, true);
    layout.pinned.push(row);
    layout.byKey.set(row.key, row);
    layout.pinnedHeight += row.height;
  }
  const wanted = arrangement.filter.trim().toLowerCase();
  const hasSeveral = shape.processes.length > 1;
  let last: number | null = null;
  const headers = new Map<number, number>();
  for (const track of ordered(shape.tracks, processOf, arrangement.moves)) {
    if (hidden.has(track.id) || pinned.has(track.id)) continue;
    const process = processOf(track);
    if (wanted !== "" && !`${track.name} ${process.name} ${track.kind}`.toLowerCase().includes(wanted)) {
      ++layout.hiddenByFilter;
      continue;
    }
    const hasHeaders = hasSeveral || process === recorder;
    const isFolded = hasHeaders && collapsed.has(processKey(process.id));
    if (hasHeaders && last !== process.id) {
      const foldKey = processKey(process.id);
      const earlier = headers.get(process.id) ?? 0;
      headers.set(process.id, earlier + 1);
      const key = earlier === 0 ? foldKey : `${foldKey}/${earlier}`;
      const top = layout.height;
      layout.rows.push({ key, foldKey, track: null, process, top, height: PROCESS_HEIGHT, laneHeight: 0, isCollapsed: isFolded, isPinned: false });
      layout.height += PROCESS_HEIGHT;
    }
    last = process.id;
    if (isFolded) continue;
    const row = trackRow(track, process, collapsed, layout.height, false);
    layout.rows.push(row);
    layout.byKey.set(row.key, row);
    layout.height += row.height;
  }
  return layout;
}

/** What a recorder says of itself stands together, whichever process it gives it to; null where there is nothing else. */
function recorderOf(shape: TraceShape): Process | null {
  const has = { own: false, others: false };
  for (const { kind } of shape.tracks) has[kind === "recording" ? "own" : "others"] = true;
  if (!has.own || !has.others) return null;
  const id = shape.processes.reduce((most, process) => Math.max(most, process.id), 0) + 1;
  return { id, name: "The recorder itself", pid: null, rank: null };
}

/** Very deep tracks, which would push everything else off the screen, and what a recorder says of itself. */
export function collapsedAtFirst(shape: TraceShape): string[] {
  const recorder = recorderOf(shape);
  const deep = shape.tracks.filter((track) => track.lanes > DEEP).map((track) => trackKey(track.id));
  return recorder ? [...deep, processKey(recorder.id)] : deep;
}

/** The same, with a track unfolded; null where it is not folded away with its process. */
export function unfolding(shape: TraceShape, arrangement: Arrangement, track: Track): Arrangement | null {
  const recorder = track.kind === "recording" ? recorderOf(shape) : null;
  const key = processKey(recorder?.id ?? track.process);
  const collapsed = arrangement.collapsed ?? collapsedAtFirst(shape);
  return collapsed.includes(key) ? { ...arrangement, collapsed: collapsed.filter((other) => other !== key) } : null;
}

function trackRow(track: Track, process: Process, collapsed: ReadonlySet<string>, top: number, isPinned: boolean): Row {
  const key = trackKey(track.id);
  const isCollapsed = collapsed.has(key);
  const lanes = Math.max(1, track.lanes);
  let laneHeight = LANE_HEIGHT;
  if (track.kind === "counter") laneHeight = isCollapsed ? COLLAPSED_HEIGHT : COUNTER_HEIGHT;
  else if (track.kind === "gaps") laneHeight = GAPS_HEIGHT;
  else if (isCollapsed) laneHeight = Math.min(LANE_HEIGHT, Math.max(1, (COLLAPSED_HEIGHT * 3) / lanes));
  return { key, foldKey: key, track, process, top, height: Math.ceil(lanes * laneHeight) + ROW_AIR, laneHeight, isCollapsed, isPinned };
}

/** Tracks of a process stand together, where its first one is; then what the user moved. */
function ordered(tracks: readonly Track[], processOf: (track: Track) => Process, moves: readonly Move[]): readonly Track[] {
  const byProcess = new Map<number, Track[]>();
  for (const track of tracks) {
    const { id } = processOf(track);
    const group = byProcess.get(id);
    if (group) group.push(track);
    else byProcess.set(id, [track]);
  }
  const order = [...byProcess.values()].flat();
  for (const { track, before } of moves) {
    const from = order.findIndex((each) => each.id === track);
    const moved = order[from];
    if (!moved || track === before) continue;
    order.splice(from, 1);
    const to = before === null ? -1 : order.findIndex((each) => each.id === before);
    order.splice(to < 0 ? order.length : to, 0, moved);
  }
  return order;
}

/** The first row that ends below a height; the number of rows where none does. */
export function rowIndexAt(rows: readonly Row[], y: number): number {
  let from = 0;
  let to = rows.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const row = rows[middle];
    if (row && row.top + row.height <= y) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The rows of which something lies in [top, bottom). */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): Row[] {
  const found: Row[] = [];
  for (let index = rowIndexAt(rows, top); index < rows.length; ++index) {
    const row = rows[index];
    if (!row || row.top >= bottom) break;
    found.push(row);
  }
  return found;
}

/** The row and lane at a height, or null below the last and in the air between rows. */
export function laneAt(rows: readonly Row[], y: number): { row: Row; lane: number } | null {
  const row = rows[rowIndexAt(rows, y)];
  if (!row || y < row.top) return null;
  if (!row.track) return { row, lane: 0 };
  const lane = Math.floor((y - row.top) / row.laneHeight);
  return lane < Math.max(1, row.track.lanes) ? { row, lane } : null;
}
