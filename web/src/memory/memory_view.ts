/** What holds the memory: what it is for over time, what stands there at the peak or where one clicks, and the report. */
import { Refusal, ask, isGivenUp } from "../api";
import { csvExport } from "../csv";
import { element, replace } from "../element";
import { formatBytes, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import { pictureExports } from "../picture";
import { type Place, numberIn } from "../place";
import type { Memory, MemoryReport, TraceShape } from "../protocol";
import { adviceFor } from "../recorded";
import { change, place } from "../state";
import { choice } from "../table/choice";
import { viewIn } from "../timeline/timeline_place";
import { showOnTimeline } from "../to_timeline";
import type { Export, Page, Shown, View } from "../view";
import { viewLink } from "../view_link";
import { type CurveRange, MemoryCurve } from "./curve_drawing";
import { findingsPart, fragmentationPart, leadOf, leaksPart, stepsPart } from "./report_parts";
import { SegmentMap } from "./segments";
import { moduleRows, standingCsv, standingTables } from "./standing";
import { ModuleTreemap } from "./treemap_drawing";

const FIELDS = ["device", "at", "start", "end", "steps"];

class MemoryView implements Shown {
  private readonly tools = element("div", { class: "view-tools" });
  private readonly lead = element("div", { class: "memory-lead" });
  private readonly note = element("div", {}, loadingNote());
  private readonly standing = element("section", { class: "memory-standing" });
  private shown: Memory | null = null;
  private readonly advice = element("div", { class: "memory-advice" });
  private readonly tables = element("div", { class: "living" });
  private readonly parts = element("div", { class: "living" });
  private readonly curve = new MemoryCurve({ choose: (at) => change({ at }), zoom: (range) => this.zoom(range), zoomOut: () => this.zoom(null) });
  private readonly map = new ModuleTreemap((example) => void showOnTimeline(this.page, example, null));
  private readonly segments = new SegmentMap();
  private readonly content = element(
    "div",
    { class: "memory-view" },
    this.tools,
    this.lead,
    this.curve.node,
    element("div", { class: "memory-halves" }, this.standing, this.advice),
    this.tables,
    this.parts,
    this.segments.node,
  );
  private asked = new AbortController();
  private reportAsked = new AbortController();
  private device: number | null = null; // that is shown
  private report: MemoryReport | null = null;

  constructor(room: HTMLElement, private page: Page) {
    this.segments.node.hidden = true;
    room.append(this.note);
    this.load();
  }

  placeChanged(now: Place, before: Place): void {
    if (FIELDS.some((name) => now[name] !== before[name])) void this.loadMemory();
  }

  exports(): Export[] {
    if (!this.curve.node.isConnected) return [];
    return [...pictureExports(this.curve.drawing, "memory"), ...(this.map.node.hidden ? [] : pictureExports(this.map.drawing, "memory-modules", "Modules")), ...this.segments.exports(), ...this.tableExports()];
  }

  private tableExports(): Export[] {
    const { shown } = this;
    return shown === null ? [] : [csvExport("Tables as CSV", "memory", () => standingCsv(shown.at))];
  }

  pageChanged(next: Page): void {
    this.page = next;
    this.report = null;
    this.load();
  }

  close(): void {
    this.asked.abort();
    this.reportAsked.abort();
    this.curve.close();
    this.map.close();
    this.segments.close();
  }

  private load(): void {
    void this.loadMemory();
    if (this.page.shape.has_memory) void this.loadReport();
  }

  /** The part of the trace that the curve is about. */
  private range(): CurveRange {
    const end = Math.max(1, this.page.shape.duration_ns);
    const view = viewIn(place());
    if (!view) return { start: 0, end };
    const start = Math.round(Math.max(0, Math.min(view.start, end - 1)));
    return { start, end: Math.round(Math.max(start + 1, Math.min(view.end, end))) };
  }

  private isZoomed(): boolean {
    const { start, end } = this.range();
    return start > 0 || end < this.page.shape.duration_ns;
  }

  private zoom(range: CurveRange | null): void {
    change(range === null ? { start: null, end: null } : { start: Math.max(0, range.start), end: Math.min(this.page.shape.duration_ns, range.end) });
  }

  private async loadMemory(): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    const now = place();
    const at = numberIn(now, "at");
    const wanted = numberIn(now, "device");
    const device = wanted !== null && Number.isSafeInteger(wanted) ? wanted : null;
    const { start, end } = this.range();
    const parameters = {
      at: at === null ? null : Math.round(Math.max(0, Math.min(at, this.page.shape.duration_ns))),
      ...(this.isZoomed() ? { start, end } : {}),
    };
    try {
      const memory = await askKnown({ ...parameters, device }, signal);
      if (memory.devices.length === 0) replace(this.note, nothing(this.page.shape));
      else this.show(memory);
    } catch (error) {
      if (!isGivenUp(error)) replace(this.note, this.page.shape.has_memory ? errorNote(error) : nothing(this.page.shape));
    }
  }

  private async loadReport(): Promise<void> {
    this.reportAsked.abort();
    this.reportAsked = new AbortController();
    replace(this.advice, loadingNote("Looking for what would free memory"));
    this.tables.hidden = true; // below what comes then: one would lose one's place
    try {
      this.report = await ask<MemoryReport>("api/memory_report", {}, this.reportAsked.signal);
      this.showReport();
    } catch (error) {
      if (!isGivenUp(error)) replace(this.advice, errorNote(error));
    }
    this.tables.hidden = false;
  }

  private show(memory: Memory): void {
    const { page } = this;
    this.shown = memory;
    if (!this.content.isConnected) replace(this.note, this.content);
    replace(this.tools, ...this.toolsOf(memory));
    this.curve.show(memory, page.shape.steps, this.range());
    const tables = standingTables(memory.at, (example) => void showOnTimeline(page, example, null));
    const heading = place()["at"] === undefined ? "What stands there at the peak" : `What stands there at ${formatTime(memory.at.time_ns)}`;
    replace(this.standing, element("h2", {}, heading), element("p", { class: "caption" }, `${formatBytes(memory.at.allocated_bytes)} allocated at ${formatTime(memory.at.time_ns)}.`), tables.categories);
    this.map.node.hidden = false;
    replace(this.tables, ...tables.others, this.map.node);
    this.map.node.hidden = !this.map.show(moduleRows(memory.at), memory.at.allocated_bytes);
    const isOther = this.device !== memory.device;
    this.device = memory.device;
    if (!isOther) return;
    replace(this.lead, factsOf(memory));
    this.showReport();
  }

  private showReport(): void {
    const { report } = this;
    const words = report?.devices.find(({ device }) => device === this.device);
    if (report === null || words === undefined) return;
    replace(this.lead, ...leadOf(report, words));
    replace(this.advice, leaksPart(report), findingsPart(report, this.page.server.has_source));
    const zoom = (start: number, end: number): void => this.zoom({ start, end });
    replace(this.parts, stepsPart(words, report.memory, this.page.shape.steps, zoom), fragmentationPart(words, report.memory));
    this.segments.show(words.segments, report.categories);
  }

  private toolsOf(memory: Memory): (HTMLElement | false)[] {
    const options = memory.devices.map(({ id, name }) => ({ id: String(id), title: id < 0 || name === `device ${id}` ? name : `${name} ${id}` }));
    const devices = choice("Memory of", options, (id) => change({ device: id, at: null }));
    devices.set(String(memory.device));
    const { start, end } = this.range();
    return [
      memory.devices.length > 1 && devices.node,
      place()["at"] !== undefined && element("button", { on: { click: () => change({ at: null }) } }, "Back to the peak"),
      place()["steps"] !== undefined && element("span", { class: "soft" }, "Of the whole recording: the steps that are chosen elsewhere make no difference here."),
      this.isZoomed() && element("button", { title: "Home on the curve", on: { click: () => this.zoom(null) } }, "Show all"),
      viewLink("timeline", { start, end }, { class: "button curve-link" }, this.isZoomed() ? "This range on the timeline" : "On the timeline"),
    ];
  }
}

/** What is said of a device until the report is there. */
function factsOf(memory: Memory): HTMLElement {
  const device = memory.devices.find(({ id }) => id === memory.device);
  const { peak_allocated_bytes: peak = 0, peak_reserved_bytes: reserved = null, capacity_bytes: capacity = null, peak_ns = 0 } = device ?? {};
  const facts = [
    `${formatBytes(peak)} allocated at most, at ${formatTime(peak_ns)}`,
    reserved === null ? "" : `${formatBytes(reserved)} reserved`,
    capacity === null ? "" : `of ${formatBytes(capacity)}`,
  ];
  return element("p", { class: "lead" }, `${facts.filter((fact) => fact !== "").join(", ")}.`);
}

/** What the address asks for, or of the fullest device where the trace has no such one. */
async function askKnown(parameters: Record<string, number | null>, signal: AbortSignal): Promise<Memory> {
  try {
    return await ask<Memory>("api/memory", parameters, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || parameters["device"] === null) throw error;
    return ask<Memory>("api/memory", { ...parameters, device: null }, signal);
  }
}

function nothing(shape: TraceShape): HTMLElement {
  return emptyNote("The trace has no allocations.", adviceFor(shape, { torch: "Record with profile_memory=True, or with telltale record --memory.", ours: "Record with telltale record --memory." }));
}

export const memory: View = {
  id: "memory",
  title: "Memory",
  key: "8",
  isOfAllSteps: true,
  keys: [
    { keys: "Click", does: "on the curve: see what stands there then" },
    { keys: "Drag, + −", does: "on the curve: zoom in, and out" },
    { keys: "Double click, Home", does: "on the curve: show everything" },
    { keys: "← →, Enter", does: "on the curve: move, and see what stands there then" },
    { keys: "Arrow keys, Enter", does: "on the modules: move, and show on the timeline" },
    { keys: "Arrow keys", does: "on the segments: from block to block" },
  ],
  show: (room, page) => new MemoryView(room, page),
};
