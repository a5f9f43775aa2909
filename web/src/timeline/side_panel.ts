/** Beside the timeline: the chosen event, the chosen range, or what helps to begin. */
import { ask, isGivenUp, sentenceOf } from "../api";
import { element, replace } from "../element";
import type { EventId, Overview, RangeAnswer } from "../protocol";
import { type EventPanelOptions, eventPanel } from "./event_panel";
import { rangePanel } from "./range_panel";
import type { Selection } from "./selection";
import { startPanel } from "./start_panel";
import type { TimelineModel } from "./timeline_model";
import type { Range } from "./timeline_place";

export interface SidePanelOptions {
  model: TimelineModel;
  selection: () => Selection;
  event: Omit<EventPanelOptions, "close" | "choose">;
  closeRange: () => void;
  zoomToRange: () => void;
}

export class SidePanel {
  private readonly eventRoom = element("div");
  private readonly rangeRoom = element("div");
  private readonly startRoom = element("div");
  readonly node = element("aside", { class: "side-panel", "aria-label": "What is chosen", tabindex: -1 }, this.eventRoom, this.rangeRoom, this.startRoom);
  private asked = new AbortController();
  private overview: Overview | null = null;
  private readonly colors = new Set<number>();
  private problem: string | null = null;

  constructor(private readonly options: SidePanelOptions) {}

  setOverview(overview: Overview): void {
    this.overview = overview;
    this.showStart();
  }

  /** Colors that are on the screen somewhere. */
  addColors(colors: Uint8Array): void {
    const before = this.colors.size;
    for (const color of colors) this.colors.add(color);
    if (this.colors.size !== before) this.showStart();
  }

  showEvent(problem: string | null): void {
    this.problem = problem;
    const selection = this.options.selection();
    const { details } = selection;
    const choose = this.choose;
    const close = (): void => selection.choose(null, "here");
    const note = problem === null ? null : element("p", { role: "alert" }, problem);
    replace(this.eventRoom, note, details && eventPanel(details, { ...this.options.event, choose, close }));
    this.node.scrollTop = 0;
    this.showStart();
  }

  async showRange(range: Range | null): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    if (!range) {
      replace(this.rangeRoom);
      this.showStart();
      return;
    }
    const { closeRange: close, zoomToRange: zoom } = this.options;
    try {
      const parameters = { start: Math.round(range.start), end: Math.round(range.end), tracks: range.tracks?.join(",") };
      const answer = await ask<RangeAnswer>("api/range", parameters, this.asked.signal);
      replace(this.rangeRoom, rangePanel(answer, { tracks: range.tracks?.length ?? null, choose: this.choose, zoom, close }));
    } catch (error) {
      if (isGivenUp(error)) return;
      replace(this.rangeRoom, element("p", { role: "alert" }, sentenceOf(error)));
    }
    this.showStart();
  }

  private readonly choose = (event: EventId): void => this.options.selection().choose(event, "there");

  private showStart(): void {
    const isNeeded = this.options.selection().details === null && this.options.model.range === null && this.problem === null;
    replace(this.startRoom, isNeeded ? startPanel(this.options.model.shape, this.overview, this.colors, this.choose) : null);
  }

  close(): void {
    this.asked.abort();
  }
}
