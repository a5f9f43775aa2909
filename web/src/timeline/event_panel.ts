/** Everything about one event, with links to what it belongs to. */
import { colorStyle } from "../colors";
import { element, type Child } from "../element";
import { counted, formatTime } from "../format";
import type { EventDetails, EventId, EventPlace } from "../protocol";
import { factWord, kindWord } from "./event_words";
import { readableInputs } from "./inputs";

export interface EventPanelOptions {
  trackName: (track: number) => string;
  choose: (event: EventId) => void;
  zoom: (place: EventPlace) => void;
  pinTrack: (track: number) => void;
  openSource: ((file: string, line: number) => void) | null;
  close: () => void;
}

const PARENTS_SHOWN = 8;
const STACK_SHOWN = 12;

export function eventPanel(details: EventDetails, options: EventPanelOptions): HTMLElement {
  const { event } = details;
  const { inputs, others } = readableInputs(details.facts);
  const fullName = details.full_name !== event.name ? element("p", { class: "full-name" }, details.full_name) : null;
  return element(
    "section",
    { class: "event-panel", "data-event": event.id },
    element(
      "header",
      {},
      element("span", { class: "key", style: colorStyle(event.color) }),
      element("h2", { title: event.name }, event.name),
      element("button", { class: "quiet", "aria-label": "Close the event", title: "Close (Esc)", on: { click: options.close } }, "×"),
    ),
    fullName,
    facts([
      ["Kind", kindWord(event.kind)],
      ["Duration", formatTime(event.duration_ns)],
      ["Self", details.self_ns !== event.duration_ns ? formatTime(details.self_ns) : null],
      ["Starts at", startText(event.start_ns)],
      ["Step", details.step],
      ["Track", options.trackName(event.track)],
      ["Line", details.source ? sourceLink(details.source.file, details.source.line, details.source.function, options) : null],
      ["Inputs", inputs.length === 0 ? null : element("ol", { class: "inputs" }, ...inputs.map((text) => element("li", {}, text)))],
      ...others.map((fact): [string, Child] => [factWord(fact.name, event.kind), fact.value]),
    ]),
    element(
      "p",
      { class: "actions" },
      element("button", { title: "f", on: { click: () => options.zoom(event) } }, "Zoom to it"),
      element("button", { on: { click: () => options.pinTrack(event.track) } }, "Pin its track"),
    ),
    relations(details, options),
    parents(details.parents, options),
    stack(details.stack),
  );
}

export function facts(rows: [string, Child][]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return element("dl", { class: "facts" }, ...shown.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

/** Three digits say little about when something happened: to the microsecond. */
export function startText(ns: number): string {
  return ns < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(6)} s`;
}

function sourceLink(file: string, line: number, inside: string, options: EventPanelOptions): HTMLElement {
  const text = `${file}:${line}`;
  const parts = text.split("/").flatMap((part, i) => (i === 0 ? [part] : ["/", element("wbr"), part])); // breaks there rather than in a word
  const { openSource } = options;
  const place = openSource
    ? element("button", { class: "link", title: "Show the line", on: { click: () => openSource(file, line) } }, ...parts)
    : element("span", { title: text }, ...parts);
  return element("span", { class: "source" }, place, inside === "" ? null : element("span", { class: "inside", title: inside }, `in ${inside}`));
}

export function eventLink(event: EventPlace, choose: (event: EventId) => void): HTMLElement {
  return element(
    "button",
    { class: "link event-link", title: event.name, "data-event": event.id, on: { click: () => choose(event.id) } },
    element("span", { class: "key", style: colorStyle(event.color) }),
    element("span", { class: "word" }, event.name),
    element("span", { class: "n" }, formatTime(event.duration_ns)),
  );
}

function relations(details: EventDetails, options: EventPanelOptions): HTMLElement | null {
  if (details.relations.length === 0) return null;
  const byRole = new Map<string, HTMLElement[]>();
  for (const { role, event } of details.relations) {
    const list = byRole.get(role) ?? [];
    list.push(element("li", {}, eventLink(event, options.choose)));
    byRole.set(role, list);
  }
  const left = details.relations_left_out;
  return element(
    "div",
    { class: "relations" },
    ...[...byRole].map(([role, links]) => element("div", {}, element("h3", {}, sentenceCase(role)), element("ul", {}, ...links))),
    left > 0 ? element("p", { class: "soft" }, `and ${counted(left, "more", "more")}`) : null,
  );
}

function parents(list: readonly EventPlace[], options: EventPanelOptions): HTMLElement | null {
  if (list.length === 0) return null;
  const item = (event: EventPlace): HTMLElement => element("li", {}, eventLink(event, options.choose));
  return element("div", { class: "parents" }, element("h3", {}, "Inside"), ...folded(list.map(item), PARENTS_SHOWN, "ul"));
}

function stack(frames: readonly string[]): HTMLElement | null {
  if (frames.length === 0) return null;
  const items = frames.map((frame) => element("li", { title: frame }, frame));
  return element("div", { class: "stack" }, element("h3", {}, "Python stack"), ...folded(items, STACK_SHOWN, "ol"));
}

/** A list of which the first are shown, and the rest on demand. */
function folded(items: HTMLElement[], shown: number, kind: "ul" | "ol"): HTMLElement[] {
  if (items.length <= shown + 1) return [element(kind, {}, ...items)];
  const rest = items.splice(shown);
  return [
    element(kind, {}, ...items),
    element("details", {}, element("summary", {}, `${rest.length} more`), element(kind, { start: kind === "ol" ? shown + 1 : null }, ...rest)),
  ];
}

function sentenceCase(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
