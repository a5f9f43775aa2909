/** Which tracks stand for the whole trace. Pure. */
import type { Track, TraceShape } from "../protocol";

const ROWS = 4;
const ROWS_WITHOUT_DEVICES = 3;

/** What tells most about a trace: the busiest stream of its busiest devices and their gaps, else its busiest threads. */
export function minimapTracks({ tracks }: Pick<TraceShape, "tracks">): Track[] {
  const chosen: Track[] = [];
  const busiest = (kind: Track["kind"]): Track[] => tracks.filter((track) => track.kind === kind).sort((left, right) => right.busy_ns - left.busy_ns);
  const streams = busiest("stream");
  const devices = [...new Set(streams.map(({ device }) => device))].slice(0, ROWS / 2); // a trace need not describe them
  for (const device of devices) {
    chosen.push(...streams.filter((stream) => stream.device === device).slice(0, 1));
    chosen.push(...tracks.filter((track) => track.kind === "gaps" && track.device === device).slice(0, 1));
  }
  const threads = busiest("thread");
  chosen.unshift(...threads.slice(0, Math.max(0, ROWS_WITHOUT_DEVICES - chosen.length)));
  return chosen.slice(0, ROWS);
}
