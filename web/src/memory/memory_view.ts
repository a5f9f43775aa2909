/** Memory over time, and what lives at a time: at the peak, or where one clicks. */
import { ask, isGivenUp } from "../api";
import { element, replace } from "../element";
import { counted, formatBytes, formatCount, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import { pictureExports } from "../picture";
import { numberIn } from "../place";
import type { Memory, MemoryRow } from "../protocol";
import { change, place } from "../state";
import { choice } from "../table/choice";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { MemoryCurve } from "./curve_drawing";
import { ModuleTreemap } from "./treemap_drawing";

const CURVE_POINTS = 1200;
const LISTED_ROWS = 20;

function show(room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const tools = element("div", { class: "view-tools" });
  const note = element("div", {}, loadingNote());
  const tables = element("div", { class: "living" });
  const curve = new MemoryCurve((at) => change({ at }));
  const map = new ModuleTreemap((example) => void showOnTimeline(page, example, null));
  const content = element("div", { class: "memory-view" }, tools, curve.node, tables);
  let asked = new AbortController();

  const load = async (): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    const now = place();
    try {
      const memory = await ask<Memory>("api/memory", { device: now["device"], at: numberIn(now, "at"), points: CURVE_POINTS }, asked.signal);
      if (memory.devices.length === 0) {
        replace(note, nothing());
        return;
      }
      replace(note, content);
      replace(tools, ...toolsOf(memory));
      curve.show(memory, page.shape.steps, page.shape.duration_ns);
      map.node.hidden = false;
      replace(tables, ...living(memory, page, map.node));
      map.node.hidden = !map.show(memory.by_module);
    } catch (error) {
      if (!isGivenUp(error)) replace(note, page.shape.has_memory ? errorNote(error) : nothing());
    }
  };
  room.append(note);
  void load();
  return {
    placeChanged(now, before) {
      if (now["device"] !== before["device"] || now["at"] !== before["at"]) void load();
    },
    exports: () => (curve.node.isConnected ? [...pictureExports(curve.drawing, "memory"), ...(map.node.hidden ? [] : pictureExports(map.drawing, "memory-modules", "Modules"))] : []),
    pageChanged(next) {
      page = next;
      void load();
    },
    close() {
      asked.abort();
      curve.close();
      map.close();
    },
  };
}

function nothing(): HTMLElement {
  return emptyNote("The trace has no allocations.", "Record with profile_memory=True, or with telltale record --memory.");
}

function toolsOf(memory: Memory): (HTMLElement | false | null)[] {
  const device = memory.devices.find(({ id }) => id === memory.device);
  const options = memory.devices.map(({ id, name }) => ({ id: String(id), title: id < 0 ? name : `${name} ${id}` }));
  const devices = choice("Memory of", options, (id) => change({ device: id, at: null }));
  devices.set(String(memory.device));
  const { peak_allocated_bytes: peak = 0, peak_reserved_bytes: reserved = null, capacity_bytes: capacity = null, peak_ns = 0 } = device ?? {};
  const facts = [
    `peak ${formatBytes(peak)} at ${formatTime(peak_ns)}`,
    reserved === null ? "" : `at most ${formatBytes(reserved)} reserved`,
    capacity === null ? "" : `of ${formatBytes(capacity)}`,
  ];
  return [
    memory.devices.length > 1 && devices.node,
    element("span", { class: "soft" }, facts.filter((fact) => fact !== "").join(", ")),
    place()["at"] !== undefined && element("button", { on: { click: () => change({ at: null }) } }, "Back to the peak"),
    element("span", { class: "curve-keys soft" }, element("span", { class: "swatch allocated" }), "allocated", element("span", { class: "swatch reserved" }), "reserved", element("span", { class: "swatch step-line" }), "starts of steps"),
  ];
}

function living(memory: Memory, page: Page, map: HTMLElement): HTMLElement[] {
  const before = memory.before_bytes > 0 ? ` Another ${formatBytes(memory.before_bytes)} were allocated before the recording.` : "";
  const isPeak = place()["at"] === undefined;
  const heading = `What lives at ${isPeak ? "the peak, " : ""}${formatTime(memory.at_ns)}`;
  return [
    element("div", { class: "wide" }, element("h2", {}, heading), element("p", { class: "caption" }, `${formatBytes(memory.at_bytes)} whose allocation was recorded.${before}`)),
    map,
    livingTable("By operator", memory.by_operator, page),
    livingTable("By module", memory.by_module, page),
    livingTable("By kind", memory.by_kind, page),
    livingTable("By line", memory.by_line, page),
  ];
}

function livingTable(title: string, rows: readonly MemoryRow[], page: Page): HTMLElement {
  const largest = rows.reduce((most, { bytes }) => Math.max(most, bytes), 1);
  const body = rows.slice(0, LISTED_ROWS).map(({ name, bytes, allocations, example }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", title: name }, example === null ? name : element("button", { class: "link", title: `${name}: show on the timeline`, on: { click: () => void showOnTimeline(page, example, null) } }, name)),
      element("td", { class: "n bar-cell", style: { "--share": `${(bytes / largest) * 100}%` } }, formatBytes(bytes)),
      element("td", { class: "n" }, formatCount(allocations)),
    ),
  );
  const left = rows.length - body.length;
  return element(
    "section",
    {},
    element("h3", {}, title),
    rows.length === 0
      ? element("p", { class: "soft" }, "Not known from this recording.")
      : element("table", { class: "short-table" }, element("thead", {}, element("tr", {}, ...["", "memory", "allocations"].map((name) => element("th", { scope: "col", class: "n" }, name)))), element("tbody", {}, ...body)),
    left > 0 && element("p", { class: "soft" }, `and ${counted(left, "more row")}`),
  );
}

export const memory: View = {
  id: "memory",
  title: "Memory",
  key: "8",
  keys: [
    { keys: "← →, Enter", does: "on the curve: move, and see what lives then" },
    { keys: "Arrow keys, Enter", does: "on the modules: move, and show on the timeline" },
  ],
  show,
};
