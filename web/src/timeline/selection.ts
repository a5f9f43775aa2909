/** The chosen event: how it is chosen, what belongs to it, and how one goes on from it. */
import { ask, sentenceOf } from "../api";
import { formatTime } from "../format";
import { type EventDetails, type EventId, type EventPlace, type Nanoseconds, type TrackId, NO_EVENT } from "../protocol";
import type { AddressWriter } from "./address_writer";
import { scrollShowing } from "./stage";
import { firstAfter, levelOfWhole, tileWidth, tilesIn } from "./tile";
import { type DrawnSpan, type TimelineModel, drawnSpan } from "./timeline_model";
import { arrangementFields } from "./timeline_place";
import { trackKey, unfolding } from "./track_layout";
import { fitted, revealing } from "./viewport";
import { levelOfScene } from "./wishes";

export type Direction = "cause" | "effect";

/** Times in which a device idles, as they were drawn where one clicked. */
export interface ChosenGap {
  drawn: DrawnSpan;
  blamed: EventPlace | null; // what the host was in, once that is known
}

export class Selection {
  details: EventDetails | null = null;
  gap: ChosenGap | null = null; // then no event is chosen
  private asked = new AbortController();
  private readonly trail = new Map<string, EventId>(); // from where one came: back along the chain goes there

  constructor(
    private readonly model: TimelineModel,
    private readonly address: AddressWriter,
    private readonly show: (problem: string | null) => void, // the details, or why there are none
    private readonly say: (text: string) => void, // to a screen reader
  ) {}

  get event(): EventId | null {
    if (this.gap) return null;
    return this.details?.event.id ?? this.model.selected?.place.id ?? null;
  }

  /** Chooses an event; "there" also brings it onto the screen. */
  choose(event: EventId | null, where: "here" | "there"): void {
    void this.chosen(event, where);
  }

  /** As `choose`; done when all about the event is shown. */
  async chosen(event: EventId | null, where: "here" | "there"): Promise<void> {
    this.address.write({ event }, "push");
    await this.load(event, where === "there");
  }

  /** What is drawn at a point: its outline is there at once. */
  chooseDrawn(span: DrawnSpan | null): void {
    if (span?.track.kind === "gaps") {
      void this.chooseGap(span);
      return;
    }
    if (span && span.event !== this.event) this.model.selected = { place: placeOf(span), relations: [] };
    this.choose(span?.event ?? null, "here");
  }

  /** Its own cause and length, and then the event that is to blame, which may be far off the screen. */
  private async chooseGap(drawn: DrawnSpan): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    this.address.write({ event: null }, "push");
    this.becomeGap({ drawn, blamed: null });
    this.say(`${drawn.name}, ${formatTime(drawn.duration)}`);
    if (drawn.event === NO_EVENT) return; // nobody's fault
    try {
      const { event } = await ask<EventDetails>("api/event", { id: drawn.event }, signal);
      if (!signal.aborted) this.becomeGap({ drawn, blamed: event });
    } catch (error) {
      if (!signal.aborted) this.show(sentenceOf(error));
    }
  }

  /** `isKept`: the window moves only where the event is not in it at all. */
  async load(event: EventId | null, isRevealed: boolean, isKept = false): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    if (event === null) {
      this.become(null);
      return;
    }
    try {
      const details = await ask<EventDetails>("api/event", { id: event }, signal);
      if (signal.aborted) return;
      this.become(details);
      if (isRevealed) this.reveal(details.event, isKept);
      this.say(`${details.event.name}, ${details.event.kind}, ${formatTime(details.event.duration_ns)}`);
    } catch (error) {
      if (signal.aborted) return;
      this.become(null);
      this.show(sentenceOf(error));
    }
  }

  private reveal(place: EventPlace, isKept: boolean): void {
    const { model } = this;
    const { start_ns, duration_ns } = place;
    const isInside = start_ns < model.view.end && start_ns + duration_ns > model.view.start;
    if (!isKept || !isInside) model.setView(revealing(model.view, start_ns, start_ns + duration_ns, model.shape.duration_ns));
    this.unfold(place.track);
    model.setScroll(scrollShowing(model.stage, place.track, place.lane));
    this.address.moved();
  }

  /** So that what is chosen can be seen. */
  private unfold(id: TrackId): void {
    const { model } = this;
    const track = model.tracks.get(id);
    const opened = track && !model.stage.layout.byKey.has(trackKey(id)) ? unfolding(model.shape, model.arrangement, track) : null;
    if (!opened) return;
    model.setArrangement(opened);
    this.address.write(arrangementFields(opened), "replace");
  }

  zoomTo(place: { start_ns: Nanoseconds; duration_ns: Nanoseconds }): void {
    this.model.setView(fitted(place.start_ns, place.start_ns + place.duration_ns, this.model.shape.duration_ns));
    this.address.moved();
  }

  /** To what caused the event, or to what it caused; back along the way one came, where there are several. */
  walk(direction: Direction): void {
    const { details } = this;
    if (this.gap?.blamed && direction === "cause") {
      this.choose(this.gap.blamed.id, "there");
      return;
    }
    if (!details) {
      this.say("Choose an event first.");
      return;
    }
    const next = chainStep(details, direction, this.trail.get(`${direction} ${details.event.id}`));
    if (next === null) {
      this.say(direction === "cause" ? "Nothing in the trace caused this event." : "This event causes nothing that the trace knows of.");
      return;
    }
    this.trail.set(`${direction === "cause" ? "effect" : "cause"} ${next}`, details.event.id);
    this.choose(next, "there");
  }

  /** To the neighbor on its lane, its caller or the first that it calls, as drawn at this zoom. */
  async step(towards: "next" | "previous" | "parent" | "child"): Promise<void> {
    const place = this.model.selected?.place;
    if (!place) {
      this.chooseFirst();
      return;
    }
    if (towards === "parent") {
      const parent = this.details?.parents[0];
      if (parent) this.choose(parent.id, "there");
      else this.say("This is an outermost event.");
      return;
    }
    const lane = towards === "child" ? place.lane + 1 : place.lane;
    const found = await this.neighbor(place, lane, towards);
    if (found?.track.kind === "gaps") {
      this.reveal(placeOf(found), false);
      await this.chooseGap(found);
    } else if (found) this.choose(found.event, "there");
    else this.say(towards === "child" ? "This event calls nothing that is recorded." : `There is no ${towards} event on this line.`);
  }

  private chooseFirst(): void {
    const { stage, view } = this.model;
    for (const { track } of [...stage.layout.pinned, ...stage.layout.rows]) {
      if (!track || track.kind === "counter" || track.kind === "gaps") continue;
      const found = this.model.drawnAt(track, 0, (view.start + view.end) / 2, (view.end - view.start) / 2);
      if (found) {
        this.choose(found.event, "there");
        return;
      }
    }
  }

  /** Looks at finer tiles first, then at coarser ones, which see farther. */
  private async neighbor(place: EventPlace, lane: number, towards: "next" | "previous" | "child"): Promise<DrawnSpan | null> {
    const track = this.model.tracks.get(place.track);
    if (!track || lane >= Math.max(1, track.lanes)) return null;
    const { duration_ns } = this.model.shape;
    const end = place.start_ns + place.duration_ns;
    const from = towards === "next" ? Math.max(place.start_ns, end - 1) : place.start_ns;
    for (let level = levelOfScene(this.model.scene([track.id])); level <= levelOfWhole(duration_ns); level += 2) {
      const tile = tilesIn(level, from, from + 1, duration_ns).first;
      for (const each of towards === "previous" ? [tile, tile - 1] : [tile, tile + 1]) {
        if (each < 0 || each * tileWidth(level) >= duration_ns) continue;
        await this.model.stores.spans.bring({ level, tile: each, tracks: [track.id] });
        const spans = this.model.stores.spans.get(track.id, level, each);
        const first = spans?.firstOfLane[lane];
        const last = spans?.firstOfLane[lane + 1];
        if (!spans || first === undefined || last === undefined) continue;
        const after = firstAfter(spans, first, last, towards === "child" ? place.start_ns - 1 : place.start_ns);
        let index = towards === "previous" ? after - 1 : after;
        while (towards === "previous" && index >= first && ((place.id !== NO_EVENT && spans.event[index] === place.id) || (spans.start[index] ?? 0) >= place.start_ns)) --index;
        if (index < first || index >= last) continue;
        if (towards === "child" && (spans.start[index] ?? 0) >= end) return null;
        return drawnSpan(track, lane, spans, index);
      }
    }
    return null;
  }

  private becomeGap(gap: ChosenGap): void {
    this.details = null;
    this.gap = gap;
    this.model.selected = { place: placeOf(gap.drawn), relations: [] };
    this.model.changed();
    this.show(null);
  }

  private become(details: EventDetails | null): void {
    this.details = details;
    this.gap = null;
    this.model.selected = details && { place: details.event, relations: details.relations };
    this.model.changed();
    this.show(null);
  }

  close(): void {
    this.asked.abort();
  }
}

/** The next one of a chain of causes: where one came from, else what it launches or is caused by, else the caller. */
export function chainStep(details: EventDetails, direction: Direction, cameFrom: EventId | undefined): EventId | null {
  if (cameFrom !== undefined) return cameFrom;
  const among = details.relations.filter((relation) => relation.direction === direction);
  const first = (among.find((relation) => relation.role === "launches") ?? among[0])?.event;
  const caller = direction === "cause" ? details.parents[0] : undefined;
  return first?.id ?? caller?.id ?? null;
}

function placeOf(span: DrawnSpan): EventPlace {
  const { event: id, name, lane, start: start_ns, duration: duration_ns, color } = span;
  return { id, name, kind: "", track: span.track.id, lane, start_ns, duration_ns, color };
}
