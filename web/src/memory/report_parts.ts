/** What the report says beside the curve: what would free memory, what grows, steps, and what fragmentation costs. */
import { type Child, element, svg } from "../element";
import { formatBytes, formatShare, formatTime } from "../format";
import type { HeldMemory, MemoryReport, StepMark } from "../protocol";
import { difference, place } from "../overview/finding_card";
import { tableOf } from "./standing";

const MOST_STEPS = 400;
const WIDEST_STEP = 6; // percent of the room

export type ReportDevice = MemoryReport["devices"][number];

/** That memory ran out, if it did, the peak, and how all this is known. */
export function leadOf({ memory: { remarks }, urgent_remarks: urgent }: MemoryReport, words: ReportDevice): HTMLElement[] {
  const notes = [words.certainty, words.keepers, ...remarks.slice(urgent)].filter((note) => note !== "");
  return [
    ...remarks.slice(0, urgent).map((remark) => element("p", {}, element("strong", {}, remark))),
    element("p", { class: "lead" }, words.peak),
    element("p", {}, words.place),
    element("p", { class: "soft" }, notes.join(" ")),
  ];
}

export function findingsPart({ memory, findings, overlap }: MemoryReport, hasSource: boolean): HTMLElement {
  const items = memory.findings.map((finding, i) => {
    const { saving = "", where = "" } = findings[i] ?? {};
    return element(
      "li",
      {},
      element(
        "details",
        {},
        element("summary", {}, element("h3", {}, finding.title), saving !== "" && element("span", { class: "frees" }, saving), where !== "" && place(finding.source, where, hasSource)),
        element("p", {}, finding.explanation),
        element("p", {}, finding.fix.text),
        finding.fix.code !== "" && difference(finding.fix.code),
      ),
    );
  });
  return element(
    "section",
    { class: "memory-findings" },
    element("h2", {}, "What would free memory"),
    items.length === 0 ? element("p", { class: "soft" }, "Nothing that Telltale knows of.") : element("p", { class: "caption" }, overlap),
    element("ol", { class: "findings" }, ...items),
  );
}

export function leaksPart({ memory, leaks }: MemoryReport): HTMLElement | null {
  if (leaks.length === 0) return null;
  return element(
    "section",
    { class: "memory-leaks" },
    element("h2", {}, "Grows from step to step"),
    element("ul", {}, ...leaks.map((sentence, i) => {
      const leak = memory.leaks[i];
      return element("li", {}, leak !== undefined && element("b", {}, `${formatBytes(leak.bytes_per_step)} per step. `), sentence);
    })),
  );
}

/** Its sentence, and a bar for the peak of each step; one leads to the step on the curve. */
export function stepsPart(words: ReportDevice, memory: HeldMemory, marks: readonly StepMark[], zoom: (start: number, end: number) => void): HTMLElement | null {
  const steps = memory.devices.find(({ device }) => device === words.device)?.steps ?? [];
  if (words.steps === "") return null;
  const shown = steps.slice(0, MOST_STEPS);
  const most = shown.reduce((largest, { peak_bytes }) => Math.max(largest, peak_bytes), 1);
  const width = Math.min(WIDEST_STEP, 100 / Math.max(1, shown.length));
  const bars = shown.map((step, i) => {
    const mark = marks.find(({ index }) => index === step.index);
    const height = (100 * step.peak_bytes) / most;
    const bar = svg(
      "g",
      { class: mark === undefined ? "" : "link" },
      svg("title", {}, `step ${step.index}: at most ${formatBytes(step.peak_bytes)}, at least ${formatBytes(step.minimum_bytes)}${step.differs ? ", unlike the others" : ""}`),
      svg("rect", { class: "step-room", x: i * width, y: 0, width, height: 100 }),
      svg("rect", { class: step.differs ? "step-peak unusual" : "step-peak", x: i * width, y: 100 - height, width: width * 0.86, height }),
    );
    if (mark !== undefined) bar.addEventListener("click", () => zoom(mark.start_ns, mark.start_ns + mark.duration_ns));
    return bar;
  });
  return element(
    "section",
    { class: "memory-steps" },
    element("h2", {}, "Steps"),
    element("p", {}, words.steps),
    svg("svg", { class: "step-peaks", viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": words.steps }, ...bars),
  );
}

const CAUSES = [
  ["hard_bytes", "free beside live blocks, which pin it"],
  ["soft_bytes", "in free segments, each too small"],
  ["stream_bytes", "free for other streams and pools only"],
  ["rounding_bytes", "by rounding"],
] as const;

export function fragmentationPart(words: ReportDevice, memory: HeldMemory): HTMLElement | null {
  const device = memory.devices.find(({ device: id }) => id === words.device);
  const lost = device?.fragmentation ?? null;
  if (device === undefined || lost === null) return null;
  const rows: Child[][] = CAUSES.map(([cause, text]) => [
    element("th", { scope: "row", title: text }, text),
    element("td", { class: "n" }, formatBytes(lost[cause])),
    element("td", { class: "n" }, formatShare(lost[cause] / Math.max(1, device.peak_reserved_bytes))),
  ]);
  return element(
    "section",
    { class: "memory-fragmentation" },
    element("h2", {}, "Reserved and in no tensor"),
    element("p", { class: "caption" }, `When most is reserved, at ${formatTime(lost.time_ns)}, of ${formatBytes(device.peak_reserved_bytes)}.`),
    tableOf("fragmentation", ["in no tensor", "bytes", "share"], rows),
    words.pinning !== "" && element("p", { class: "soft" }, words.pinning),
  );
}
