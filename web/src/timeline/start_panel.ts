/** What stands beside the timeline while nothing is chosen: the findings, the colors, and how one moves. */
import { colorStyle } from "../colors";
import { element } from "../element";
import { counted } from "../format";
import type { EventId, Overview, TraceShape } from "../protocol";

const KEYS: readonly [string, string][] = [
  ["W S", "zoom"],
  ["A D", "pan"],
  ["Shift-drag", "choose a range"],
  ["/", "search"],
  ["[ ]", "to the cause, to the effect"],
  ["m", "measure"],
  ["?", "all keys"],
];

export function startPanel(shape: TraceShape, overview: Overview | null, usedColors: ReadonlySet<number>, choose: (event: EventId) => void): HTMLElement {
  return element(
    "section",
    { class: "start-panel" },
    overview ? findings(overview, choose) : null,
    colors(shape, usedColors),
    element("h3", {}, "Keys"),
    element("dl", { class: "facts keys" }, ...KEYS.flatMap(([key, does]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, does)])),
  );
}

function findings(overview: Overview, choose: (event: EventId) => void): HTMLElement {
  const items = overview.analyze.findings.map((finding, i) => {
    const extra = overview.findings[i];
    const first = extra?.places[0];
    const text = [element("span", { class: "flag", "aria-hidden": "true" }, i + 1), element("span", { class: "word" }, finding.title)];
    const where = extra && extra.places.length > 0 ? counted(extra.places.length, "place") : "not at one place";
    const about = [extra?.saving ?? "", where].filter((part) => part !== "").join(" · ");
    return element(
      "li",
      {},
      first
        ? element("button", { class: "link finding-link", "data-event": first.id, title: "Show it", on: { click: () => choose(first.id) } }, ...text)
        : element("span", { class: "finding-link" }, ...text),
      element("p", { class: "soft" }, about),
    );
  });
  if (items.length === 0) return element("p", {}, overview.nothing_found);
  return element("div", {}, element("h3", {}, "Findings"), element("ol", { class: "finding-list" }, ...items));
}

function colors(shape: TraceShape, used: ReadonlySet<number>): HTMLElement | null {
  if (used.size === 0) return null;
  const byColor = new Map<string, { index: number; words: string[] }>();
  shape.colors.forEach(({ word, light }, index) => {
    if (!used.has(index)) return;
    const same = byColor.get(light);
    if (same) same.words.push(word);
    else byColor.set(light, { index, words: [word] });
  });
  const items = [...byColor.values()].map(({ index, words }) => {
    const key = element("span", { class: words[0]?.startsWith("idle") ? "key idle" : "key", style: colorStyle(index) });
    return element("li", {}, key, words.join(", "));
  });
  return element("div", {}, element("h3", {}, "Colors"), element("ul", { class: "color-list" }, ...items));
}
