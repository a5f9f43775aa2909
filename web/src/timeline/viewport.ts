/** The window of time that is shown, and how it moves. Pure. */
import type { Nanoseconds, StepMark, TraceShape } from "../protocol";

export interface Viewport {
  start: Nanoseconds;
  end: Nanoseconds;
}

const SMALLEST: Nanoseconds = 50;
const MARGIN = 0.02; // of the trace: how far a window may reach beyond it

/** The nearest window that is neither too narrow nor outside the trace. */
export function clamped(view: Viewport, duration: Nanoseconds): Viewport {
  const whole = Math.max(duration, SMALLEST);
  const room = whole * MARGIN;
  const length = Math.min(Math.max(view.end - view.start, SMALLEST), whole + 2 * room);
  const slack = Math.min(Math.max(room, length / 2), whole / 2 + room);
  const middle = (view.start + view.end) / 2;
  const start = Math.min(Math.max(middle - length / 2, -slack), whole + slack - length);
  return { start, end: start + length };
}

/** `factor` below 1 zooms in; the time `at` stays where it is. */
export function zoomed(view: Viewport, at: Nanoseconds, factor: number, duration: Nanoseconds): Viewport {
  const length = view.end - view.start;
  const allowed = Math.min(Math.max(length * factor, SMALLEST), Math.max(duration, SMALLEST) * (1 + 2 * MARGIN)) / length;
  return clamped({ start: at - (at - view.start) * allowed, end: at + (view.end - at) * allowed }, duration);
}

export function panned(view: Viewport, by: Nanoseconds, duration: Nanoseconds): Viewport {
  return clamped({ start: view.start + by, end: view.end + by }, duration);
}

/** A span with some air around it. */
export function fitted(start: Nanoseconds, end: Nanoseconds, duration: Nanoseconds): Viewport {
  const air = Math.max((end - start) * 0.1, SMALLEST / 2);
  return clamped({ start: start - air, end: end + air }, duration);
}

/** The same scale, moved only where the span is not to be seen; another one for what is too short or too long for it. */
export function revealing(view: Viewport, start: Nanoseconds, end: Nanoseconds, duration: Nanoseconds): Viewport {
  const length = view.end - view.start;
  const isSeen = start < view.end - length * 0.02 && end > view.start + length * 0.02;
  if (end - start > length) return fitted(start, end, duration);
  const isHidden = end - start < length / 500; // seen, but no wider than a hair
  if (isSeen && !isHidden) return view;
  if (isHidden) {
    const wanted = Math.max((end - start) * 40, SMALLEST);
    return clamped({ start: (start + end - wanted) / 2, end: (start + end + wanted) / 2 }, duration);
  }
  const from = (start + end - length) / 2;
  return clamped({ start: from, end: from + length }, duration);
}

/** All of the trace. */
export function whole(duration: Nanoseconds): Viewport {
  const room = Math.max(duration, SMALLEST) * MARGIN * 0.5;
  return clamped({ start: -room, end: Math.max(duration, SMALLEST) + room }, duration);
}

const GOOD_PART = 0.25; // of the trace

/**
 * What is shown first: the steps; all where there are none, or where they are a good part of it, since a device may go on
 * with them long after the host, and where no device works before they have ended on the host. All is all that takes
 * time: a recorder may leave a mark long after it.
 */
export function firstView({ steps, tracks, duration_ns: duration }: Pick<TraceShape, "steps" | "tracks" | "duration_ns">): Viewport {
  const all = clamped(whole(busyEnd(tracks, duration)), duration);
  const found = stepsView(steps, duration);
  return found && found.end - found.start < GOOD_PART * duration && hasDeviceWork(tracks, found) ? found : all;
}

/** Also where there is no device. */
function hasDeviceWork(tracks: TraceShape["tracks"], { start, end }: Viewport): boolean {
  const streams = tracks.filter(({ kind, busy_ns }) => kind === "stream" && busy_ns > 0);
  return streams.length === 0 || streams.some(({ first_ns, last_ns }) => first_ns < end && last_ns > start);
}

/** When the last of what takes time ends. */
export function busyEnd(tracks: TraceShape["tracks"], duration: Nanoseconds): Nanoseconds {
  const end = tracks.reduce((latest, track) => (track.busy_ns > 0 ? Math.max(latest, track.last_ns) : latest), 0);
  return end > 0 ? Math.min(end, duration) : duration;
}

/** From the first to the last of some steps, with a little air; null where there are none. */
export function stepsView(steps: readonly StepMark[], duration: Nanoseconds): Viewport | null {
  const start = steps[0]?.start_ns ?? 0;
  const end = steps.reduce((latest, step) => Math.max(latest, step.start_ns + step.duration_ns), start);
  const air = (end - start) * 0.02;
  return end > start ? clamped({ start: start - air, end: end + air }, duration) : null;
}
