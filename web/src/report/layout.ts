/** Where the rows of the picture stand, from top to bottom: times, findings, then what streams and threads do. */
import type { FoundPlaces, Lane, LaneKind, Step } from "./step.js";

export interface Row {
  top: number;
  height: number;
  label: string;
  content: { finding: FoundPlaces } | { lane: Lane } | { queue: number[] } | { ticks: true };
}

const GAP = 3;
const HEIGHTS: Record<LaneKind | "ticks" | "finding" | "queue", number> = {
  ticks: 18,
  finding: 14,
  stream: 34,
  gaps: 16,
  queue: 26,
  thread: 22,
  calls: 16,
};

export function rowsOf(step: Step): Row[] {
  const rows: Row[] = [];
  let top = 0;
  const add = (height: number, label: string, content: Row["content"]): void => {
    rows.push({ top, height, label, content });
    top += height + GAP;
  };
  add(HEIGHTS.ticks, "", { ticks: true });
  for (const finding of step.findings) add(HEIGHTS.finding, `${String(finding.number)}  ${finding.title}`, { finding });
  const mostQueued = Math.max(0, ...step.queue);
  const addQueue = (): void => {
    if (mostQueued > 0) add(HEIGHTS.queue, `queued, at most ${String(mostQueued)}`, { queue: step.queue });
  };
  let isQueueDue = true;
  for (const lane of step.lanes) {
    if (isQueueDue && lane.kind === "thread") {
      addQueue();
      isQueueDue = false;
    }
    if (lane.kind === "calls") top -= GAP - 1; // close to the thread that makes them
    add(HEIGHTS[lane.kind], lane.name, { lane });
  }
  if (isQueueDue) addQueue();
  return rows;
}

export function heightOf(rows: readonly Row[]): number {
  const last = rows.at(-1);
  return last ? last.top + last.height : 0;
}

export function rowAt(rows: readonly Row[], y: number): Row | null {
  return rows.find((row) => row.top <= y && y < row.top + row.height) ?? null;
}
