/** The timeline: everything that happened, from a whole training run down to a single kernel. */
import { ask, isGivenUp, sentenceOf } from "../api";
import { element, replace } from "../element";
import { emptyNote } from "../messages";
import { paintedExports } from "../painted_picture";
import type { Place } from "../place";
import { pacedByDevice, stepsOf } from "../overview/steps";
import type { Overview } from "../protocol";
import { place, visit } from "../state";
import type { Page, Shown, View } from "../view";
import { AddressWriter } from "./address_writer";
import { type Frame, SMALL_FONT } from "./frame";
import { KEYS, handleKey, motionOf } from "./keys";
import { type Look, lookAt } from "./look";
import { minimap } from "./minimap";
import { Navigation } from "./navigation";
import { Picture } from "./picture";
import { watchPointer } from "./pointer";
import { type Scrolled, Scrollbar } from "./scrollbar";
import { SearchBox } from "./search_box";
import { Seldom } from "./seldom";
import { Selection } from "./selection";
import { SidePanel } from "./side_panel";
import { RULER, largestPinnedScroll, largestScroll, pinnedHeight, scrollTop } from "./stage";
import { tileStores } from "./stores";
import { surface } from "./surface";
import { TextFit } from "./text_fit";
import { baseText } from "./ticks";
import { type Flag, TimelineModel } from "./timeline_model";
import { timelinePainting } from "./timeline_painting";
import { arrangementIn, eventIn, rangeIn, viewFields, viewIn } from "./timeline_place";
import { Toolbar } from "./toolbar";
import { Tooltip } from "./tooltip";
import { TrackCommands } from "./track_commands";
import { TrackHeaders } from "./track_headers";
import { firstView } from "./viewport";
import { slowLast, wishesOf } from "./wishes";

const WISHES_MS = 80; // between looks at what is missing: while one moves, most would be out of sight when it comes

export const timeline: View = {
  id: "timeline",
  title: "Timeline",
  key: "2",
  keys: KEYS,
  fills: true,
  show(room, page) {
    if (page.shape.tracks.length === 0) {
      room.append(emptyNote("The trace has no events, so there is nothing to show over time.", "Record a few steps with telltale record or torch.profiler."));
      return { placeChanged: () => undefined, close: () => undefined };
    }
    return new TimelineView(room, page);
  },
};

let leftAt: Place | null = null; // where the timeline was when another view was shown last

/** The steps that the page is about changed meanwhile, and the window is still the one from before. */
function isLeftWithOtherSteps(now: Place): boolean {
  return leftAt !== null && now["steps"] !== leftAt["steps"] && now["start"] === leftAt["start"] && now["end"] === leftAt["end"];
}

class TimelineView implements Shown {
  private readonly canvas = element("canvas", {
    class: "timeline-canvas", tabindex: 0, role: "application", "aria-describedby": "timeline-chosen",
    "aria-label": "Timeline of the trace. Arrow keys go from event to event.",
  });
  private readonly live = element("div", { class: "unseen", id: "timeline-chosen", "aria-live": "polite" });
  private readonly corner = element("div", { class: "corner", "aria-hidden": "true" });
  private readonly trouble = element("p", { class: "timeline-trouble", role: "alert", hidden: true });
  private readonly stageRoom = element("div", { class: "stage-room" });
  private readonly model: TimelineModel;
  private readonly address: AddressWriter;
  private readonly navigation: Navigation;
  private readonly selection: Selection;
  private readonly tracks: TrackCommands;
  private readonly headers: TrackHeaders;
  private readonly panel: SidePanel;
  private readonly search: SearchBox;
  private readonly toolbar: Toolbar;
  private readonly tooltip: Tooltip;
  private readonly scrollbars: readonly Scrollbar[];
  private readonly picture = new Picture();
  private readonly main;
  private readonly map;
  private readonly wishes = new Seldom(WISHES_MS, () => this.want());
  private readonly asked = new AbortController();
  private readonly releaseKeys: () => void;
  private look: Look;
  private here: Place = {}; // as it was told last
  private fit: { ratio: number; fit: TextFit } | null = null;

  constructor(room: HTMLElement, page: Page) {
    const { shape } = page;
    const stores = tileStores({
      arrived: () => {
        this.trouble.hidden = true;
        this.model.changed();
      },
      failed: (error) => this.fail(error),
      seen: (spans) => this.panel.addColors(spans.color),
    });
    this.model = new TimelineModel(shape, stores, arrangementIn(place()), () => this.main.invalidate());
    const { model } = this;
    this.address = new AddressWriter(model);
    this.navigation = new Navigation(model, this.address);
    this.selection = new Selection(model, this.address, (problem) => this.showEvent(problem), (text) => this.say(text));
    this.tracks = new TrackCommands(model, this.address);
    this.headers = new TrackHeaders(model, this.tracks);
    this.panel = new SidePanel({
      model,
      selection: () => this.selection,
      event: {
        trackName: (track) => model.tracks.get(track)?.name ?? "",
        zoom: (event) => this.selection.zoomTo(event),
        pinTrack: (track) => this.tracks.togglePinned(track),
        openSource: page.server.has_source ? (file, line): void => visit("source", { file, line }) : null,
      },
      leave: () => this.canvas.focus(),
      closeRange: () => this.setRange(null),
      zoomToRange: () => {
        const { range } = model;
        if (range) this.selection.zoomTo({ start_ns: range.start, duration_ns: range.end - range.start });
      },
    });
    this.search = new SearchBox({
      model,
      selection: this.selection,
      chosen: () => eventIn(place()),
      write: (text) => this.address.write({ q: text, exact: null }, "replace"),
      leave: () => this.canvas.focus(),
    });
    this.toolbar = new Toolbar({ model, navigation: this.navigation, tracks: this.tracks, search: this.search.node });
    this.tooltip = new Tooltip(model);
    this.scrollbars = scrollbarsOf(model);
    this.stageRoom.append(this.canvas, ...this.scrollbars.map(({ node }) => node), this.tooltip.node);

    const hint = element("div", { class: "minimap-label", "aria-hidden": "true" }, "Whole trace");
    this.look = lookAt(room, shape.colors);
    this.map = minimap(model, () => this.look, new TextFit((text) => text.length * SMALL_FONT), () => this.address.moved());
    const parts = [this.toolbar.node, hint, this.map.canvas, this.headers.node, this.stageRoom, this.panel.node, this.trouble, this.live];
    const node = element("div", { class: "timeline" }, ...parts);
    this.headers.node.append(this.corner);
    room.append(node);
    this.look = lookAt(node, shape.colors);
    const themeChanged = (): void => {
      this.look = lookAt(node, this.model.shape.colors);
      this.map.invalidate();
    };
    this.main = surface(this.canvas, { paint: (...size) => this.paint(...size), themeChanged });
    watchPointer(this.canvas, {
      model,
      navigation: this.navigation,
      selection: this.selection,
      address: this.address,
      isSelecting: () => this.toolbar.isSelecting,
      clickedRow: (key) => this.tracks.toggleCollapsed(key),
    });
    this.releaseKeys = this.watchReleases();
    model.setSize(this.canvas.clientWidth, this.canvas.clientHeight, window.devicePixelRatio);
    this.start(place());
    void this.loadFindings();
  }

  private start(now: Place): void {
    const { model } = this;
    model.chosenSteps = now["steps"] ?? "";
    const view = isLeftWithOtherSteps(now) ? null : viewIn(now);
    const first = view ?? model.viewOfChosenSteps();
    if (first) model.setView(first);
    this.here = now;
    model.range = rangeIn(now);
    void this.panel.showRange(model.range);
    this.search.set(now["q"] ?? "", now["exact"] === "1");
    const event = eventIn(now);
    if (event !== null) void this.selection.load(event, true, view !== null);
    else this.panel.showEvent(null);
  }

  placeChanged(now: Place, before: Place): void {
    const { model } = this;
    this.here = now;
    model.chosenSteps = now["steps"] ?? "";
    const isAboutOthers = now["steps"] !== before["steps"];
    const isMoved = now["start"] !== before["start"] || now["end"] !== before["end"];
    if (!this.address.isOwn) {
      if (isMoved) model.setView(viewIn(now) ?? model.viewOfChosenSteps() ?? firstView(model.shape));
      else if (isAboutOthers) model.setView(model.viewOfChosenSteps() ?? firstView(model.shape));
      if (now["event"] !== before["event"]) void this.selection.load(eventIn(now), !isMoved);
      model.setArrangement(arrangementIn(now));
    }
    if (now["range"] !== before["range"]) {
      model.range = rangeIn(now);
      void this.panel.showRange(model.range);
    }
    if (isAboutOthers) void this.loadFindings();
    this.search.set(now["q"] ?? "", now["exact"] === "1");
    model.changed();
  }

  pageChanged(page: Page): void {
    this.model.setShape(page.shape);
    this.look = lookAt(this.stageRoom, page.shape.colors);
    this.trouble.hidden = true;
    const event = eventIn(place());
    if (event !== null || this.selection.gap) void this.selection.load(event, false);
    this.search.again();
    void this.panel.showRange(this.model.range);
    void this.loadFindings();
  }

  keyDown(event: KeyboardEvent): boolean {
    const { model, navigation, selection, tracks, canvas, search } = this;
    return handleKey(event, { model, navigation, selection, tracks, canvas, search, toggleSelecting: () => this.toolbar.toggleSelecting() });
  }

  exports(): ReturnType<NonNullable<Shown["exports"]>> {
    return paintedExports("timeline", () => timelinePainting(this.model, this.look));
  }

  close(): void {
    leftAt = this.here;
    this.asked.abort();
    this.wishes.close();
    this.address.close();
    this.navigation.close();
    this.selection.close();
    this.search.close();
    this.toolbar.close();
    this.panel.close();
    this.headers.close();
    this.main.close();
    this.map.close();
    this.releaseKeys();
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number, ratio: number): void {
    const { model } = this;
    const { stage, stores } = model;
    if (stage.width !== width || stage.height !== height || model.ratio !== ratio) model.setSize(width, height, ratio);
    stores.spans.tick();
    stores.counters.tick();
    const frame: Frame = { context, pixels: context, ratio, stage, look: this.look, fit: this.fitFor(context, ratio) };
    const base = this.picture.paint(frame, model);
    this.wishes.ask();
    this.corner.textContent = base > 0 ? `from ${baseText(base)}` : "";
    this.tooltip.update(this.stageRoom, this.canvas.classList.contains("dragged"));
    this.headers.update();
    for (const scrollbar of this.scrollbars) scrollbar.update();
    this.toolbar.update();
    this.map.invalidate();
    this.describe();
  }

  private want(): void {
    const { model } = this;
    const scenes = model.scenes();
    model.stores.spans.want(slowLast([...wishesOf(scenes.spans), ...wishesOf(this.map.scene())], (track) => model.isGaps(track)));
    model.stores.counters.want(wishesOf(scenes.counters));
    this.describe();
  }

  /** What the picture shows, for whoever cannot see it. */
  private describe(): void {
    const { model, canvas } = this;
    const { start, end } = viewFields(model.view);
    canvas.dataset["start"] = String(start);
    canvas.dataset["end"] = String(end);
    canvas.dataset["selected"] = String(model.selected?.place.id ?? "");
    canvas.dataset["pending"] = String(model.stores.spans.pending + model.stores.counters.pending + (this.wishes.isWaiting ? 1 : 0));
    canvas.dataset["rows"] = String(model.stage.layout.rows.length + model.stage.layout.pinned.length);
    canvas.classList.toggle("selecting", this.toolbar.isSelecting);
  }

  private fitFor(context: CanvasRenderingContext2D, ratio: number): TextFit {
    if (this.fit?.ratio !== ratio) {
      const font = `${SMALL_FONT * ratio}px ${this.look.font}`;
      this.fit = {
        ratio,
        fit: new TextFit((text) => {
          context.font = font;
          return context.measureText(text).width;
        }),
      };
    }
    return this.fit.fit;
  }

  private showEvent(problem: string | null): void {
    this.describe();
    this.panel.showEvent(problem);
  }

  private setRange(range: TimelineModel["range"]): void {
    this.navigation.setRange(range);
  }

  private say(text: string): void {
    this.live.textContent = text;
  }

  private fail(error: unknown): void {
    this.trouble.hidden = false;
    replace(this.trouble, sentenceOf(error));
  }

  private async loadFindings(): Promise<void> {
    try {
      const overview = await ask<Overview>("api/overview", { steps: place()["steps"] }, this.asked.signal);
      this.model.flags = flagsOf(overview);
      const { shape } = this.model;
      this.model.diagnosed = stepsOf(shape.steps, overview.analyze.steps);
      this.model.isPacedByDevice = pacedByDevice(this.model.diagnosed, shape.device_word) !== "";
      this.panel.setOverview(overview);
      this.model.changed();
    } catch (error) {
      if (!isGivenUp(error)) this.model.flags = [];
    }
  }

  private watchReleases(): () => void {
    const release = (event: KeyboardEvent): void => {
      const motion = motionOf(event.key);
      if (motion) this.navigation.release(motion);
    };
    const releaseAll = (): void => this.navigation.release();
    document.addEventListener("keyup", release);
    window.addEventListener("blur", releaseAll);
    return () => {
      document.removeEventListener("keyup", release);
      window.removeEventListener("blur", releaseAll);
    };
  }
}

/** Of the tracks, and of the pinned ones where they are higher than their room. */
function scrollbarsOf(model: TimelineModel): Scrollbar[] {
  const others = (): Scrolled => {
    const { stage } = model;
    return { top: scrollTop(stage), room: Math.max(0, stage.height - scrollTop(stage)), largest: largestScroll(stage), scroll: stage.scroll };
  };
  const pinned = (): Scrolled => {
    const { stage } = model;
    const largest = largestPinnedScroll(stage);
    return { top: RULER.height, room: largest > 0 ? pinnedHeight(stage) : 0, largest, scroll: stage.pinnedScroll };
  };
  return [new Scrollbar(others, (scroll) => model.setScroll({ scroll })), new Scrollbar(pinned, (pinnedScroll) => model.setScroll({ pinnedScroll }))];
}

/** By start, so that painting goes from left to right. */
function flagsOf(overview: Overview): Flag[] {
  const flags = overview.findings.flatMap(({ places }, i) => {
    const title = overview.analyze.findings[i]?.title ?? "";
    return places.map((at): Flag => ({ number: i + 1, title, place: at }));
  });
  return flags.sort((left, right) => left.place.start_ns - right.place.start_ns);
}
