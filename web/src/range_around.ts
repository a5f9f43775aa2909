/** Which part of the timeline to show so that an event can be seen with what leads to it. Without DOM. */

const LEAST_RANGE_NS = 200_000;
const RANGE_OF_EVENT = 12; // as wide as this many of the event

/** A range with the event in its middle, inside the trace. */
export function rangeAround(event: { start_ns: number; duration_ns: number }, traceNs: number): { start: number; end: number } {
  const width = Math.min(Math.max(event.duration_ns * RANGE_OF_EVENT, LEAST_RANGE_NS), Math.max(traceNs, 1));
  const middle = event.start_ns + event.duration_ns / 2;
  const start = Math.round(Math.max(0, Math.min(middle - width / 2, traceNs - width)));
  return { start, end: Math.round(start + width) };
}
