/** A finding: what is wrong, what it costs, where, what to change, and the way to its evidence. */
import { type Properties, element, svg } from "../element";
import { formatPercent, formatTime } from "../format";
import type { EventPlace, Finding, FindingExtra, SourceLine } from "../protocol";
import { viewLink } from "../view_link";
import { evidenceFields } from "./evidence";

export interface CardActions {
  traceNs: number;
  hasSource: boolean;
  isOpen: boolean;
  isTicked: boolean;
  opened: (isOpen: boolean) => void;
  ticked: () => void;
}

const SHOWN_PLACES = 3; // so that the next finding stays in sight
const LISTED_PLACES = 8;

export function findingCard(number: number, finding: Finding, extra: FindingExtra, actions: CardActions): HTMLElement {
  const details = element(
    "details",
    { class: "about", open: actions.isOpen },
    element(
      "summary",
      {},
      element("h3", {}, finding.title),
      extra.where !== "" && place(finding.source, extra.where, actions.hasSource),
    ),
    element("p", {}, finding.explanation),
    extra.also !== "" && element("p", {}, extra.also),
    element("p", {}, finding.fix.text),
    finding.fix.code !== "" && difference(finding.fix.code),
    extra.doubt !== "" && element("p", { class: "soft" }, extra.doubt),
    evidence(number, extra.places, actions.traceNs),
  );
  details.addEventListener("toggle", () => actions.opened(details.open));
  return element("li", {}, element("span", { class: "number" }, number + 1), details, saving(number, finding, extra, actions));
}

/** The line, which leads to its file where that may be read, else to what it costs. */
export function place(source: SourceLine | null, where: string, hasSource: boolean): HTMLElement {
  const line = source === null ? "" : `${source.file}:${source.line}`;
  const link =
    source === null
      ? where
      : hasSource
        ? viewLink("source", { line, file: null }, { title: "Show the line in its file" }, where)
        : viewLink("lines", { filter: line }, { title: "Show the line among all lines" }, where);
  return element("span", { class: "where" }, element("code", {}, link));
}

function saving(number: number, finding: Finding, extra: FindingExtra, actions: CardActions): HTMLElement {
  const { low_percent: low, likely_percent: likely, high_percent: high, likely_ns: ns } = finding.saving;
  const whyNot = extra.can_be_tried ? null : extra.why_not_tried;
  const label = `Try the fix of finding ${number + 1}: ${finding.title}${whyNot === null ? "" : `. Not possible: ${whyNot}`}`;
  const box = element("input", { type: "checkbox", "data-finding": number, checked: actions.isTicked, disabled: whyNot !== null, "aria-label": label, on: { change: actions.ticked } });
  const amounts = [
    element("strong", {}, formatPercent(likely)),
    element("span", {}, `saves ${formatTime(ns)} per step`),
    rangePicture(low, likely, high),
    element("span", {}, extra.range),
  ];
  return element(
    "div",
    { class: "saving" },
    ...(high > 0 ? amounts : [element("span", {}, extra.saving)]),
    (high > 0 || finding.saving_bytes > 0) && element("label", { class: "try", title: whyNot }, box, "try this fix"),
  );
}

/** The range of a saving on a scale from nothing to all of the step, with what is likely. */
function rangePicture(low: number, likely: number, high: number): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("line", { class: "range-axis", x1: 0, x2: 100, y1: 6, y2: 6 }),
    svg("line", { class: "range", x1: low, x2: high, y1: 6, y2: 6 }),
    svg("rect", { class: "likely", x: Math.min(likely, 99.2) - 0.4, y: 1, width: 1.2, height: 10 }),
  );
}

/** A change as code, line by line. */
export function difference(code: string): HTMLElement {
  const lines = code.split("\n").map((line) => {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
    return element("span", { class: kind }, `${line}\n`);
  });
  return element("pre", {}, ...lines);
}

function evidence(number: number, places: readonly EventPlace[], traceNs: number): HTMLElement | null {
  const [first] = places;
  if (first === undefined) return null;
  const link = (at: number, properties: Properties, text: string): HTMLElement =>
    viewLink("timeline", evidenceFields(number, at, places, traceNs), properties, text);
  const rows = places.slice(0, LISTED_PLACES).map((event, at) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, link(at, {}, event.name)),
      element("td", { class: "n" }, `at ${formatTime(event.start_ns)}`),
      element("td", { class: "n" }, formatTime(event.duration_ns)),
    ),
  );
  return element(
    "div",
    { class: "evidence" },
    link(0, { class: "button" }, "Show on timeline"),
    element("table", { "aria-label": "Evidence" }, element("tbody", {}, ...rows.slice(0, SHOWN_PLACES))),
    rows.length > SHOWN_PLACES &&
      element("details", {}, element("summary", {}, `${rows.length - SHOWN_PLACES} more`), element("table", { "aria-label": "More evidence" }, element("tbody", {}, ...rows.slice(SHOWN_PLACES)))),
  );
}
