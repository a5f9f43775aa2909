/**
 * A typical step as the report has it: src/report/analyze_html_timeline.cpp writes it, here it is read. Times are
 * nanoseconds from the start of the step.
 */

export interface Work {
  style: string; // a class of the report's style sheet
  label: string;
}

export interface Span {
  start: number;
  end: number;
  work: number;
  name: string;
  events: number; // more than 1: too short to be told apart
  busy: number;
}

export type LaneKind = "stream" | "gaps" | "thread" | "calls";
export interface Lane {
  kind: LaneKind;
  name: string;
  spans: Span[]; // by start
}

export interface Place {
  start: number;
  end: number;
}
export interface FoundPlaces {
  number: number; // of the finding in the report
  title: string;
  places: Place[]; // by start
}

export interface Step {
  length: number;
  works: Work[];
  lanes: Lane[];
  queue: number[]; // launched work that waits, at most, in equal parts of the step; empty without a device
  findings: FoundPlaces[];
}

interface Written {
  window_ns: number;
  works: Work[];
  lanes: { kind: LaneKind; name: string; spans: number[] }[];
  queue: number[];
  findings: { number: number; title: string; places: number[] }[];
  names: string[];
}

const NUMBERS_A_SPAN = 6;

function spansOf(numbers: readonly number[], names: readonly string[]): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (let at = 0; at + NUMBERS_A_SPAN <= numbers.length; at += NUMBERS_A_SPAN) {
    const [after = 0, length = 0, work = 0, name = 0, events = 1, busy = 0] = numbers.slice(at, at + NUMBERS_A_SPAN);
    start += after;
    spans.push({ start, end: start + length, work, name: names[name] ?? "", events, busy });
  }
  return spans;
}

function placesOf(numbers: readonly number[]): Place[] {
  const places: Place[] = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    const start = numbers[at] ?? 0;
    places.push({ start, end: start + (numbers[at + 1] ?? 0) });
  }
  return places;
}

export function readStep(text: string): Step {
  const written = JSON.parse(text) as Written;
  return {
    length: written.window_ns,
    works: written.works,
    lanes: written.lanes.map(({ kind, name, spans }) => ({ kind, name, spans: spansOf(spans, written.names) })),
    queue: written.queue,
    findings: written.findings.map(({ number, title, places }) => ({ number, title, places: placesOf(places) })),
  };
}

/** The span at a time, or the nearest one that is at most `reach` away. The innermost where several overlap. */
export function spanAt(spans: readonly Span[], time: number, reach: number): Span | null {
  let low = 0;
  for (let high = spans.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.start ?? 0) <= time + reach) low = middle + 1;
    else high = middle;
  }
  let nearest: Span | null = null;
  let least = reach;
  const few = 16; // spans of a stream may overlap, but hardly more than that
  for (const span of spans.slice(Math.max(0, low - few), low).reverse()) {
    const away = Math.max(0, span.start - time, time - span.end);
    if (away > least || (nearest !== null && away === least)) continue;
    [nearest, least] = [span, away];
    if (away === 0) break;
  }
  return nearest;
}
