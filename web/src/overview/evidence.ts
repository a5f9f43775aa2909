/** Where on the timeline the evidence of a finding is, and how one gets there. Without DOM. */
import type { Change } from "../place";
import type { EventPlace } from "../protocol";
import { rangeAround } from "../range_around";

/** The fields that show a place of a finding's evidence, counted from 0, on the timeline. */
export function evidenceFields(finding: number, at: number, places: readonly EventPlace[], traceNs: number): Change {
  const event = places[at];
  return event === undefined ? {} : { ...rangeAround(event, traceNs), event: event.id, finding, at };
}

/** The next place, or with -1 the previous one; behind the last comes the first. */
export function nextPlace(at: number, towards: 1 | -1, count: number): number {
  return (at + towards + count) % count;
}

/** The numbers of a list in the hash ("0,2") that are below a limit, each once. */
export function numbersIn(list: string | undefined, limit: number): number[] {
  const numbers = (list ?? "").split(",").filter((text) => /^\d+$/.test(text)).map(Number);
  return [...new Set(numbers)].filter((number) => number < limit);
}

/** A list in the hash with a number added, or removed where it is in it; null when none is left. */
export function toggled(numbers: readonly number[], number: number): string | null {
  const others = numbers.filter((other) => other !== number);
  const next = others.length < numbers.length ? others : [...numbers, number].sort((a, b) => a - b);
  return next.length === 0 ? null : next.join(",");
}
