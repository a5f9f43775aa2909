/**
 * What the timeline shows: the window, the tracks, what is under the pointer, what is chosen. Whoever changes it calls
 * `changed()`, which asks for a new picture. No DOM here.
 */
import type { CounterTile, EventPlace, Nanoseconds, Relation, StepMark, Track, TrackId, TraceShape } from "../protocol";
import { type Step, isChosen } from "../overview/steps";
import type { Searched } from "./search_marks";
import { type Scrolls, type Stage, largestPinnedScroll, largestScroll, rowAt, scrollTop, timeAt, visibleRows } from "./stage";
import { type Spans, spanAt, tileWidth } from "./tile";
import type { TileStore } from "./tile_store";
import type { Range } from "./timeline_place";
import { type Arrangement, layoutOf } from "./track_layout";
import { valueAt } from "./paint_counters";
import { type Viewport, busyEnd, clamped, firstView, stepsView, whole } from "./viewport";
import { type Scene, levelOfScene } from "./wishes";

/** A span as it is drawn: one event, or several that are too small to tell apart; also of idle times. */
export interface DrawnSpan {
  track: Track;
  lane: number;
  event: number;
  name: string;
  start: Nanoseconds;
  duration: Nanoseconds;
  events: number;
  busy: number;
  color: number;
  causes: readonly { color: number; ns: Nanoseconds }[]; // of idle times, the longest first
}

export interface Pointer {
  x: number; // CSS pixels of the canvas
  y: number;
}

/** Where a finding has its evidence. */
export interface Flag {
  number: number; // of the finding, from 1
  title: string;
  place: EventPlace;
}

export interface Selected {
  place: EventPlace;
  relations: readonly Relation[];
}

export interface Measure {
  from: Nanoseconds;
  to: Nanoseconds | null; // null: follows the pointer
}

export interface Stores {
  spans: TileStore<Spans>;
  counters: TileStore<CounterTile>;
}

const NEAR = 3; // CSS pixels: a thin event is hit this far beside it, too

export class TimelineModel {
  shape: TraceShape;
  tracks: ReadonlyMap<TrackId, Track> = new Map<TrackId, Track>();
  private readonly gapsByDevice = new Map<number, Track>();
  stage: Stage;
  arrangement: Arrangement;
  ratio = 1;
  pointer: Pointer | null = null;
  selected: Selected | null = null;
  chosenSteps = ""; // "4", "3..7"; empty: all
  range: Range | null = null;
  measure: Measure | null = null;
  searched: Searched | null = null;
  flags: readonly Flag[] = [];
  diagnosed: readonly Step[] = []; // what the diagnosis says of the steps, where it is there
  isPacedByDevice = false; // steps take longer than the host is at them

  constructor(
    shape: TraceShape,
    readonly stores: Stores,
    arrangement: Arrangement,
    readonly changed: () => void,
  ) {
    this.shape = shape;
    this.arrangement = arrangement;
    this.stage = { width: 1, height: 1, view: firstView(shape), layout: layoutOf(shape, arrangement), scroll: 0, pinnedScroll: 0 };
    this.readTracks();
  }

  /** The trace was read again. A window on all of it stays on all, and one at its end at its end. */
  setShape(shape: TraceShape): void {
    const grown = shape.duration_ns - this.shape.duration_ns;
    const { view } = this.stage;
    const isAtEnd = view.end >= busyEnd(this.shape.tracks, this.shape.duration_ns);
    const isWhole = isAtEnd && view.start <= 0;
    this.shape = shape;
    this.readTracks();
    this.stores.spans.renew();
    this.stores.counters.renew();
    if (isWhole) this.stage.view = whole(shape.duration_ns);
    else if (isAtEnd) this.stage.view = { start: view.start + grown, end: view.end + grown };
    this.setArrangement(this.arrangement);
  }

  private readTracks(): void {
    this.tracks = new Map(this.shape.tracks.map((track) => [track.id, track]));
    this.gapsByDevice.clear();
    for (const track of this.shape.tracks) if (track.kind === "gaps" && track.device !== null) this.gapsByDevice.set(track.device, track);
  }

  get view(): Viewport {
    return this.stage.view;
  }

  setView(view: Viewport): void {
    this.stage.view = clamped(view, this.shape.duration_ns);
    this.changed();
  }

  setScroll({ scroll = this.stage.scroll, pinnedScroll = this.stage.pinnedScroll }: Partial<Scrolls>): void {
    const { stage } = this;
    stage.scroll = Math.min(Math.max(0, scroll), largestScroll(stage));
    stage.pinnedScroll = Math.min(Math.max(0, pinnedScroll), largestPinnedScroll(stage));
    this.changed();
  }

  /** Scrolls the tracks at a height of the screen: those that are pinned, or the others. */
  scrollAt(y: number, by: number): void {
    const { stage } = this;
    const isPinned = y < scrollTop(stage) && largestPinnedScroll(stage) > 0;
    this.setScroll(isPinned ? { pinnedScroll: stage.pinnedScroll + by } : { scroll: stage.scroll + by });
  }

  setSize(width: number, height: number, ratio: number): void {
    this.stage.width = Math.max(1, width);
    this.stage.height = Math.max(1, height);
    this.ratio = ratio;
    this.setScroll({});
  }

  setArrangement(arrangement: Arrangement): void {
    this.arrangement = arrangement;
    this.stage.layout = layoutOf(this.shape, arrangement);
    this.setScroll({});
  }

  /** The tracks on the screen, by what is asked for them, and the gaps that shade the streams among them. */
  scenes(): { spans: Scene; counters: Scene } {
    const spans = new Set<TrackId>();
    const counters: TrackId[] = [];
    for (const { row } of visibleRows(this.stage)) {
      if (!row.track) continue;
      if (row.track.kind === "counter") counters.push(row.track.id);
      else spans.add(row.track.id);
      const gaps = row.track.kind === "stream" ? this.gapsOf(row.track.device) : undefined;
      if (gaps) spans.add(gaps.id);
    }
    return { spans: this.scene([...spans]), counters: this.scene(counters) };
  }

  scene(tracks: readonly TrackId[]): Scene {
    return { view: this.view, pixels: this.stage.width * this.ratio, duration: this.shape.duration_ns, tracks };
  }

  isGaps(track: TrackId): boolean {
    return [...this.gapsByDevice.values()].some((gaps) => gaps.id === track);
  }

  gapsOf(device: number | null): Track | undefined {
    return device === null ? undefined : this.gapsByDevice.get(device);
  }

  /** As what the page is about, or as the range. */
  isStepChosen({ index, start_ns, duration_ns }: StepMark): boolean {
    const { range } = this;
    return isChosen(index, this.chosenSteps) || (range?.start === start_ns && range.end === start_ns + duration_ns);
  }

  /** The window on the steps that the page is about; null where it is about all. */
  viewOfChosenSteps(): Viewport | null {
    const { steps, duration_ns } = this.shape;
    return stepsView(steps.filter(({ index }) => isChosen(index, this.chosenSteps)), duration_ns);
  }

  /** What is drawn at a point. */
  spanAt(point: Pointer): DrawnSpan | null {
    const hit = rowAt(this.stage, point.y);
    const track = hit?.row.track;
    if (!track || track.kind === "counter") return null;
    return this.drawnAt(track, hit.lane, timeAt(this.stage, point.x), (NEAR * (this.view.end - this.view.start)) / this.stage.width);
  }

  /** What is drawn of a lane at a time, or within `slack` of it. */
  drawnAt(track: Track, lane: number, time: Nanoseconds, slack: Nanoseconds): DrawnSpan | null {
    const level = levelOfScene(this.scene([track.id]));
    let found: DrawnSpan | null = null;
    this.stores.spans.cover(track.id, level, Math.max(0, Math.floor(time / tileWidth(level))), (spans, start, end) => {
      if (found || time + slack < start || time - slack >= end) return;
      const index = spanAt(spans, lane, time, slack);
      if (index >= 0) found = drawnSpan(track, lane, spans, index);
    });
    return found;
  }

  counterAt(point: Pointer): { track: Track; value: number } | null {
    const track = rowAt(this.stage, point.y)?.row.track;
    if (track?.kind !== "counter") return null;
    const time = timeAt(this.stage, point.x);
    const level = levelOfScene(this.scene([track.id]));
    const values: number[] = [];
    this.stores.counters.cover(track.id, level, Math.max(0, Math.floor(time / tileWidth(level))), (tile, start, end) => {
      const value = time >= start && time < end ? valueAt(tile, time) : null;
      if (value !== null) values.push(value);
    });
    return values[0] === undefined ? null : { track, value: values[0] };
  }
}

export function drawnSpan(track: Track, lane: number, spans: Spans, at: number): DrawnSpan {
  const causes = track.kind === "gaps" ? causesAt(spans, at) : [];
  const index = causes[0]?.index ?? at;
  return {
    track,
    lane,
    event: spans.event[index] ?? 0,
    name: spans.names[spans.name[index] ?? 0] ?? "",
    start: spans.start[index] ?? 0,
    duration: spans.duration[index] ?? 0,
    events: spans.events[index] ?? 1,
    busy: spans.busy[index] ?? 1,
    color: spans.color[index] ?? 0,
    causes: causes.map(({ index: each, ns }) => ({ color: spans.color[each] ?? 0, ns })),
  };
}

/** Of idle times that are drawn together: they have a span for each cause, all with the same start. */
function causesAt(spans: Spans, index: number): { index: number; ns: Nanoseconds }[] {
  const start = spans.start[index];
  let first = index;
  while (first > 0 && spans.start[first - 1] === start) --first;
  const found: { index: number; ns: Nanoseconds }[] = [];
  for (let i = first; i < spans.count && spans.start[i] === start; ++i) found.push({ index: i, ns: (spans.duration[i] ?? 0) * (spans.busy[i] ?? 1) });
  return found.reverse();
}
