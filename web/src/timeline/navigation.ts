/** Moves the window: by keys that are held, by the wheel, to a selection, to everything; measures between two points. */
import type { Nanoseconds } from "../protocol";
import type { AddressWriter } from "./address_writer";
import { timeAt } from "./stage";
import type { TimelineModel } from "./timeline_model";
import { type Range, rangeFields } from "./timeline_place";
import { fitted, panned, whole, zoomed } from "./viewport";

export type Motion = "in" | "out" | "left" | "right";

const TAP = { zoom: 0.75, pan: 0.12 }; // of the window, at once
const PER_SECOND = { zoom: 4, pan: 0.9 }; // while the key is held
const HOLD_MS = 180; // before that it is a tap
const SNAP = 6; // CSS pixels

export class Navigation {
  private readonly held = new Map<Motion, number>(); // since when
  private last = 0;

  constructor(
    private readonly model: TimelineModel,
    private readonly address: AddressWriter,
  ) {}

  zoom(factor: number, at?: Nanoseconds): void {
    const { view, shape, pointer, stage } = this.model;
    const center = at ?? (pointer ? timeAt(stage, pointer.x) : (view.start + view.end) / 2);
    this.model.setView(zoomed(view, center, factor, shape.duration_ns));
    this.address.moved();
  }

  /** By a share of the window. */
  pan(share: number): void {
    const { view, shape } = this.model;
    this.model.setView(panned(view, share * (view.end - view.start), shape.duration_ns));
    this.address.moved();
  }

  press(motion: Motion): void {
    if (this.held.has(motion)) return;
    this.held.set(motion, performance.now());
    this.move(motion, TAP.zoom, TAP.pan);
    this.last = performance.now();
    requestAnimationFrame(this.hold);
  }

  release(motion?: Motion): void {
    if (motion) this.held.delete(motion);
    else this.held.clear();
  }

  private readonly hold = (): void => {
    const now = performance.now();
    const seconds = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    for (const [motion, since] of this.held) {
      if (now - since > HOLD_MS) this.move(motion, Math.exp(-PER_SECOND.zoom * seconds * 0.5), PER_SECOND.pan * seconds);
    }
    if (this.held.size > 0) requestAnimationFrame(this.hold);
  };

  private move(motion: Motion, zoom: number, pan: number): void {
    if (motion === "in") this.zoom(zoom);
    else if (motion === "out") this.zoom(1 / zoom);
    else this.pan(motion === "left" ? -pan : pan);
  }

  fitAll(): void {
    this.model.setView(whole(this.model.shape.duration_ns));
    this.address.moved();
  }

  /** To the range or the event that is chosen; where both are, from the wider to the narrower and back. */
  fitSelection(): boolean {
    const { range, selected, view, shape } = this.model;
    const choices = [
      ...(range ? [fitted(range.start, range.end, shape.duration_ns)] : []),
      ...(selected ? [fitted(selected.place.start_ns, selected.place.start_ns + selected.place.duration_ns, shape.duration_ns)] : []),
    ];
    const first = choices[0];
    if (!first) return false;
    const isThere = Math.abs(first.start - view.start) + Math.abs(first.end - view.end) < (view.end - view.start) / 100;
    this.model.setView((isThere ? choices[1] : undefined) ?? first);
    this.address.moved();
    return true;
  }

  setRange(range: Range | null): void {
    this.model.range = range;
    this.model.changed();
    this.address.write(rangeFields(range));
  }

  /** The first point of a measure, the second, and then none: at the pointer or, without one, at the chosen event. */
  measure(): void {
    const { model } = this;
    const { measure, selected } = model;
    const at = model.pointer ? this.snapped(model.pointer.x, model.pointer.y) : selected?.place.start_ns;
    if (measure?.to !== undefined && measure.to !== null) model.measure = null;
    else if (at !== undefined) model.measure = measure ? { from: measure.from, to: at } : { from: at, to: null };
    model.changed();
  }

  /** The time at a point, or the edge of an event that is near it. */
  snapped(x: number, y: number): Nanoseconds {
    const { model } = this;
    const time = timeAt(model.stage, x);
    const slack = (SNAP * (model.view.end - model.view.start)) / model.stage.width;
    const span = model.spanAt({ x, y });
    if (!span) return time;
    const edges = [span.start, span.start + span.duration].filter((edge) => Math.abs(edge - time) <= slack);
    return edges.sort((left, right) => Math.abs(left - time) - Math.abs(right - time))[0] ?? time;
  }

  close(): void {
    this.held.clear();
  }
}
