/** What a step is spent on: one bar, and its parts by name, busy ones and idle ones apart. */
import { colorStyle } from "../colors";
import { element } from "../element";
import { formatPercent, formatShare, formatTime } from "../format";
import type { Overview } from "../protocol";

type Part = Overview["breakdown"][number];
const NARROW_PERCENT = 6;

export function breakdownBar(parts: readonly Part[]): HTMLElement {
  return element("div", { class: "bar", "aria-hidden": "true" }, ...parts.map(barPart));
}

/** `worker`: what works, "GPU" or "host". */
export function breakdownLists(parts: readonly Part[], worker: string): (HTMLElement | null)[] {
  return [
    partList(`The ${worker} works on`, parts.filter((part) => !part.is_idle)),
    partList("It waits for", parts.filter((part) => part.is_idle)),
  ];
}

function barPart(part: Part): HTMLElement {
  const isNarrow = part.percent < NARROW_PERCENT;
  return element(
    "span",
    {
      class: [part.is_idle ? "idle" : "", isNarrow ? "narrow" : ""].join(" ").trim(),
      style: { ...colorStyle(part.color), "flex-grow": part.percent },
      title: `${part.is_idle ? "idle: " : ""}${part.word}, ${formatTime(part.ns)}, ${formatPercent(part.percent)}`,
    },
    element("b", {}, part.word),
    formatPercent(part.percent),
  );
}

function partList(title: string, parts: readonly Part[]): HTMLElement | null {
  if (parts.length === 0) return null;
  const rows = parts.map((part) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("span", { class: part.is_idle ? "key idle" : "key", style: colorStyle(part.color) }), part.word),
      element("td", { class: "n" }, formatTime(part.ns)),
      element("td", { class: "n" }, formatShare(part.percent / 100)),
    ),
  );
  return element("div", {}, element("h3", {}, title), element("table", { class: "parts" }, element("tbody", {}, ...rows)));
}
