/** What happens inside a chosen range of time: busy, idle by cause, the operators and kernels that take most of it. */
import { colorStyle } from "../colors";
import { element } from "../element";
import { counted, formatPercent, formatTime } from "../format";
import type { EventId, NamedTime, RangeAnswer } from "../protocol";

export interface RangePanelOptions {
  tracks: number | null; // of which the range is; null: of all
  choose: (event: EventId) => void;
  zoom: () => void;
  close: () => void;
}

const THREADS_SHOWN = 6;
const NAMES_SHOWN = 8;

export function rangePanel(answer: RangeAnswer, options: RangePanelOptions): HTMLElement {
  const length = answer.end_ns - answer.start_ns;
  const scope = options.tracks === null ? "" : ` on ${counted(options.tracks, "track")}`;
  const threads = [...answer.threads].sort((left, right) => right.busy_ns - left.busy_ns);
  return element(
    "section",
    { class: "range-panel", "data-start": answer.start_ns, "data-end": answer.end_ns },
    element(
      "header",
      {},
      element("h2", {}, `Range of ${formatTime(length)}`),
      element("button", { class: "quiet", "aria-label": "Close the range", title: "Close (Esc)", on: { click: options.close } }, "×"),
    ),
    element("p", { class: "soft" }, `${counted(answer.events, "event")}${scope}`),
    element("p", { class: "actions" }, element("button", { title: "f", on: { click: options.zoom } }, "Zoom to it")),
    ...answer.devices.map((device) => devicePart(device, length)),
    threads.length === 0 ? null : element("h3", {}, "Threads"),
    ...threads.slice(0, THREADS_SHOWN).map((thread) => meter(thread.name, thread.busy_ns, length, null)),
    namesPart("Kernels", answer.kernels, options.choose),
    namesPart("Operators", answer.operators, options.choose),
    namesPart("Python", answer.python, options.choose),
    answer.events === 0 ? element("p", {}, "Nothing happens in this range.") : null,
  );
}

function devicePart(device: RangeAnswer["devices"][number], length: number): HTMLElement {
  const amount = (ns: number): string => unbroken(`${formatTime(ns)} (${formatPercent(length > 0 ? (100 * ns) / length : 0)})`);
  const parts = [...device.idle].sort((left, right) => right.ns - left.ns);
  const busy = element("span", { class: "busy", style: { "flex-grow": device.busy_ns } });
  const bar = element("div", { class: "range-bar", "aria-hidden": "true" }, busy);
  for (const part of parts) bar.append(element("span", { class: "filled idle", style: { ...colorStyle(part.color), "flex-grow": part.ns } }));
  return element(
    "div",
    { class: "range-device" },
    element("h3", {}, device.name),
    element("p", {}, `Busy ${amount(device.busy_ns)}, idle ${amount(device.idle_ns)}`),
    bar,
    ...parts.map((part) => meter(part.word, part.ns, length, part.color)),
  );
}

/** Amounts stay on one line. */
function unbroken(text: string): string {
  return text.replaceAll(" ", "\u00a0");
}

function meter(word: string, ns: number, length: number, color: number | null): HTMLElement {
  return element(
    "div",
    { class: "meter-row" },
    color === null ? null : element("span", { class: "key idle", style: colorStyle(color) }),
    element("span", { class: "word", title: word }, word),
    element("span", { class: "n" }, formatTime(ns)),
    element("span", { class: "n share" }, formatPercent(length > 0 ? (100 * ns) / length : 0)),
  );
}

function namesPart(title: string, names: readonly NamedTime[], choose: (event: EventId) => void): HTMLElement | null {
  if (names.length === 0) return null;
  const row = (each: NamedTime): HTMLElement =>
    element(
      "button",
      {
        class: "link event-link", title: `${each.name}\n${counted(each.calls, "call")}`, "data-event": each.example,
        on: { click: () => choose(each.example) },
      },
      element("span", { class: "key", style: colorStyle(each.color) }),
      element("span", { class: "word" }, each.name),
      element("span", { class: "n calls" }, `${each.calls}×`),
      element("span", { class: "n" }, formatTime(each.ns)),
    );
  const rest = names.slice(NAMES_SHOWN);
  return element(
    "div",
    { class: "names" },
    element("h3", {}, title),
    ...names.slice(0, NAMES_SHOWN).map(row),
    rest.length === 0 ? null : element("details", {}, element("summary", {}, `${rest.length} more`), ...rest.map(row)),
  );
}
