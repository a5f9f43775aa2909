/** Everything about a time in which a device idles: why, how long, and what the host did meanwhile. */
import { colorStyle } from "../colors";
import { element } from "../element";
import { counted, formatShare, formatTime } from "../format";
import type { EventPlace } from "../protocol";
import { eventLink, facts, startText } from "./event_panel";
import type { DrawnSpan } from "./timeline_model";

export interface GapPanelOptions {
  device: string;
  wordOf: (color: number) => string; // of a cause
  blamed: EventPlace | null; // what the host was in
  choose: (event: number) => void;
  zoom: () => void;
  close: () => void;
}

export function gapPanel(gap: DrawnSpan, options: GapPanelOptions): HTMLElement {
  const isOne = gap.events === 1;
  const { blamed } = options;
  return element(
    "section",
    { class: "gap-panel" },
    element(
      "header",
      {},
      element("span", { class: "key idle", style: colorStyle(gap.color) }),
      element("h2", {}, isOne ? options.wordOf(gap.color) : counted(gap.events, "idle time")),
      element("button", { class: "quiet", "aria-label": "Close the idle time", title: "Close (Esc)", on: { click: options.close } }, "×"),
    ),
    facts([
      [isOne ? "Duration" : "Within", formatTime(gap.duration)],
      ["Starts at", startText(gap.start)],
      ["Device", options.device],
    ]),
    isOne ? null : causes(gap, options),
    element("p", { class: "actions" }, element("button", { title: "f", on: { click: options.zoom } }, "Zoom to it")),
    blamed ? element("div", {}, element("h3", {}, isOne ? "The host meanwhile" : "The host in the longest"), eventLink(blamed, options.choose)) : null,
  );
}

function causes(gap: DrawnSpan, { wordOf }: GapPanelOptions): HTMLElement {
  const row = ({ color, ns }: DrawnSpan["causes"][number]): HTMLElement =>
    element(
      "div",
      { class: "meter-row" },
      element("span", { class: "key idle", style: colorStyle(color) }),
      element("span", { class: "word" }, wordOf(color)),
      element("span", { class: "n" }, formatTime(ns)),
      element("span", { class: "n share" }, formatShare(gap.duration > 0 ? ns / gap.duration : 0)),
    );
  return element("div", {}, ...gap.causes.map(row));
}
