/** What a program without steps does: spans that repeat, by how long they take, how busy its threads are, and its counters. */
import { element } from "../element";
import { formatCount, formatNumber, formatPercent, formatTime } from "../format";
import type { Analyze, EventId } from "../protocol";
import { showOnTimeline } from "../to_timeline";
import type { Page } from "../view";

const LATENCY_TITLES = ["", "Times", "p50", "p90", "p99", "Longest"];
const NAMED_SCOPES = 3;
const COUNTERS_SHOWN = 20;

export function latencyTable(latencies: Analyze["latencies"], page: Page): HTMLElement {
  const hasWaits = latencies.some(({ waiting }) => waiting !== null);
  const rows = latencies.map((span) => {
    const amounts = [formatCount(span.count), ...[span.p50_ns, span.p90_ns, span.p99_ns].map(formatTime)];
    return element(
      "tr",
      {},
      element("th", { scope: "row", title: span.name }, span.name),
      ...amounts.map((text) => element("td", { class: "n" }, text)),
      element("td", { class: "n" }, toTimeline(page, span.longest, span.name, formatTime(span.max_ns))),
      hasWaits && element("td", { class: "n" }, span.waiting === null ? "" : formatPercent(span.waiting.waiting_percent)),
    );
  });
  const head = [...LATENCY_TITLES, ...(hasWaits ? ["Waits"] : [])].map((title) => element("th", { scope: "col", class: title === "" ? "" : "n" }, title));
  return element("table", { class: "short-table latencies" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

export function threadTable(threads: Analyze["threads"], page: Page): HTMLElement {
  const rows = threads.map(({ name, busy_percent: busy, scopes }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", title: name }, name),
      element("td", { class: "n bar-cell", style: { "--share": `${Math.min(busy, 100)}%` } }, formatPercent(busy)),
      element("td", { class: "scopes" }, ...scopes.slice(0, NAMED_SCOPES).map((scope) => toTimeline(page, scope.longest, scope.name, `${scope.name} ${formatTime(scope.own_ns)}`))),
    ),
  );
  const head = ["", "Busy", "Mostly in"].map((title, at) => element("th", { scope: "col", class: at === 1 ? "n" : "" }, title));
  return element("table", { class: "short-table threads" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

/** As in the report; all of them are on the timeline. */
export function counterTable(counters: Analyze["counters"]): HTMLElement {
  const rows = counters.slice(0, COUNTERS_SHOWN).map(({ name, series, values, mean, minimum, maximum }) => {
    const title = series === "" || series === "value" ? name : `${name} · ${series}`;
    const amounts = [...[mean, minimum, maximum].map(formatNumber), formatCount(values)];
    return element("tr", {}, element("th", { scope: "row", title }, title), ...amounts.map((text) => element("td", { class: "n" }, text)));
  });
  const head = ["", "Mean", "Least", "Most", "Values"].map((title) => element("th", { scope: "col", class: title === "" ? "" : "n" }, title));
  return element("table", { class: "short-table counters" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

function toTimeline(page: Page, event: EventId | null, name: string, text: string): HTMLElement {
  if (event === null) return element("span", {}, text);
  return element("button", { class: "link", title: `The longest ${name}, on the timeline`, on: { click: () => void showOnTimeline(page, event, name) } }, text);
}
