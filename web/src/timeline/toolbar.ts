/** The line above the timeline: search, which tracks, and buttons for what keys do. */
import { element, replace } from "../element";
import { counted } from "../format";
import type { Navigation } from "./navigation";
import type { TimelineModel } from "./timeline_model";
import type { TrackCommands } from "./track_commands";

const TYPING_MS = 150;

export interface ToolbarOptions {
  model: TimelineModel;
  navigation: Navigation;
  tracks: TrackCommands;
  search: HTMLElement;
}

export class Toolbar {
  isSelecting = false;
  private readonly filter = element("input", {
    type: "search", placeholder: "Filter tracks", "aria-label": "Filter tracks by name", class: "track-filter", spellcheck: "false",
  });
  private readonly hidden = element("span", { class: "hidden-tracks", "aria-live": "polite" });
  private readonly selectButton = element(
    "button",
    { "aria-pressed": "false", title: "Drag chooses a range of time (r, or Shift-drag)", on: { click: () => this.toggleSelecting() } },
    "Choose range",
  );
  private readonly measureButton = element("button", { "aria-pressed": "false", title: "Measure between two points (m)" }, "Measure");
  private timer: ReturnType<typeof setTimeout> | undefined;
  readonly node: HTMLElement;

  constructor(private readonly options: ToolbarOptions) {
    const { navigation, tracks, model } = options;
    this.filter.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => tracks.filter(this.filter.value), TYPING_MS);
    });
    this.filter.addEventListener("keydown", (event) => event.stopPropagation());
    this.measureButton.addEventListener("click", () => {
      if (model.measure) model.measure = null;
      else {
        const { start, end } = model.view;
        model.measure = { from: model.selected?.place.start_ns ?? start + (end - start) / 4, to: null };
      }
      model.changed();
    });
    const button = (text: string, title: string, act: () => void): HTMLElement => element("button", { title, "aria-label": title, on: { click: act } }, text);
    this.node = element(
      "div",
      { class: "timeline-tools", role: "toolbar", "aria-label": "Timeline" },
      options.search,
      this.filter,
      this.hidden,
      element("span", { class: "space" }),
      this.selectButton,
      this.measureButton,
      button("Fold tracks", "Collapse or open all tracks", () => tracks.toggleAllCollapsed()),
      button("−", "Zoom out (S)", () => this.zoom(1.6)),
      button("+", "Zoom in (W)", () => this.zoom(0.625)),
      button("Fit", "Fit what is chosen, else everything (f)", () => { if (!navigation.fitSelection()) navigation.fitAll(); }),
      button("All", "The whole trace (Home)", () => navigation.fitAll()),
    );
  }

  toggleSelecting(): void {
    this.isSelecting = !this.isSelecting;
    this.update();
    this.options.model.changed();
  }

  /** As the model is now. */
  update(): void {
    const { model, tracks } = this.options;
    const { hidden, filter } = model.arrangement;
    this.selectButton.setAttribute("aria-pressed", String(this.isSelecting));
    this.measureButton.setAttribute("aria-pressed", String(model.measure !== null));
    if (document.activeElement !== this.filter && this.filter.value !== filter) this.filter.value = filter;
    const left = hidden.length + model.stage.layout.hiddenByFilter;
    const text = left === 0 ? "" : `${counted(left, "track")} hidden `;
    if (this.hidden.dataset["text"] === text) return;
    this.hidden.dataset["text"] = text;
    const show = (): void => {
      this.filter.value = "";
      tracks.showAll();
    };
    replace(this.hidden, text, left === 0 ? null : element("button", { class: "link", on: { click: show } }, "Show"));
  }

  private zoom(factor: number): void {
    const { view } = this.options.model;
    this.options.navigation.zoom(factor, (view.start + view.end) / 2);
  }

  close(): void {
    clearTimeout(this.timer);
  }
}
