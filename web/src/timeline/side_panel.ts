/** Beside the timeline: the chosen event, the chosen range, or what helps to begin. */
import { ask, isGivenUp, sentenceOf } from "../api";
import { element, replace } from "../element";
import type { EventId, Overview, RangeAnswer } from "../protocol";
import { type EventPanelOptions, eventPanel } from "./event_panel";
import { gapPanel } from "./gap_panel";
import { rangePanel } from "./range_panel";
import type { ChosenGap, Selection } from "./selection";
import { startPanel } from "./start_panel";
import type { TimelineModel } from "./timeline_model";
import type { Range } from "./timeline_place";

export interface SidePanelOptions {
  model: TimelineModel;
  selection: () => Selection;
  event: Omit<EventPanelOptions, "close" | "choose">;
  leave: () => void; // the keyboard goes back to the picture
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
  private shownEvent: EventId | null = null;
  private shownRange: Range | null = null;

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
    const hadKeyboard = this.node.contains(document.activeElement);
    this.problem = problem;
    const selection = this.options.selection();
    const { details, gap } = selection;
    const choose = this.choose;
    const close = (): void => selection.choose(null, "here");
    const note = problem === null ? null : element("p", { role: "alert" }, problem);
    const about = details ? eventPanel(details, { ...this.options.event, choose, close }) : gap && this.gapPanel(gap, close);
    replace(this.eventRoom, note, about);
    const isNew = problem !== null || gap !== null || (details !== null && details.event.id !== this.shownEvent);
    this.shownEvent = details?.event.id ?? null;
    if (isNew) this.putFirst(this.eventRoom);
    this.showStart();
    if (hadKeyboard && !this.node.contains(document.activeElement)) this.options.leave(); // what was pressed is gone
  }

  private gapPanel({ drawn, blamed }: ChosenGap, close: () => void): HTMLElement {
    const { model } = this.options;
    const device = model.shape.devices.find(({ id }) => id === drawn.track.device)?.name ?? "";
    const wordOf = (color: number): string => model.shape.colors[color]?.word ?? "";
    const zoom = (): void => this.options.selection().zoomTo({ start_ns: drawn.start, duration_ns: drawn.duration });
    return gapPanel(drawn, { device, wordOf, blamed, choose: this.choose, zoom, close });
  }

  /** What was chosen last stands on top. */
  private putFirst(room: HTMLElement): void {
    if (this.node.firstChild !== room) this.node.prepend(room);
    this.node.scrollTop = 0;
  }

  async showRange(range: Range | null): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    const isNew = range !== null && !isSameRange(range, this.shownRange);
    this.shownRange = range;
    if (!range) {
      const hadKeyboard = this.rangeRoom.contains(document.activeElement);
      replace(this.rangeRoom);
      this.showStart();
      if (hadKeyboard) this.options.leave();
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
    if (isNew) this.putFirst(this.rangeRoom);
    this.showStart();
  }

  private readonly choose = (event: EventId): void => this.options.selection().choose(event, "there");

  private showStart(): void {
    const { details, gap } = this.options.selection();
    const isNeeded = details === null && gap === null && this.options.model.range === null && this.problem === null;
    replace(this.startRoom, isNeeded ? startPanel(this.options.model.shape, this.overview, this.colors, this.choose) : null);
  }

  close(): void {
    this.asked.abort();
  }
}

function isSameRange(one: Range, other: Range | null): boolean {
  return one.start === other?.start && one.end === other.end && one.tracks?.join(",") === other.tracks?.join(",");
}
