/** Which tracks stand for the whole trace. Pure. */
import type { Track, TraceShape } from "../protocol";

const ROWS = 4;
const ROWS_WITHOUT_DEVICES = 3;

/** What tells most about a trace: the gaps and the busiest stream of its devices, else its busiest threads. */
export function minimapTracks(shape: TraceShape): Track[] {
  const chosen: Track[] = [];
  const busiest = (tracks: Track[]): Track[] => tracks.sort((left, right) => right.busy_ns - left.busy_ns);
  for (const device of shape.devices.slice(0, ROWS / 2)) {
    const ofDevice = shape.tracks.filter((track) => track.device === device.id);
    chosen.push(...busiest(ofDevice.filter((track) => track.kind === "stream")).slice(0, 1));
    chosen.push(...ofDevice.filter((track) => track.kind === "gaps").slice(0, 1));
  }
  const threads = busiest(shape.tracks.filter((track) => track.kind === "thread"));
  chosen.unshift(...threads.slice(0, Math.max(0, ROWS_WITHOUT_DEVICES - chosen.length)));
  return chosen.slice(0, ROWS);
}
