/** Which part of the step is seen: moved and zoomed, but never beyond the step. */

export interface Range {
  start: number;
  end: number;
}

const SHORTEST_NS = 100;

/** A range of the length of `range`, or of the step where that is shorter, moved until it lies within the step. */
export function within(range: Range, length: number): Range {
  const wanted = Math.min(length, Math.max(SHORTEST_NS, range.end - range.start));
  const start = Math.min(Math.max(0, range.start), length - wanted);
  return { start, end: start + wanted };
}

export function moved(range: Range, by: number, length: number): Range {
  return within({ start: range.start + by, end: range.end + by }, length);
}

/** Zoomed so that `factor` times as much is seen, and what is at `time` stays where it is. */
export function zoomed(range: Range, time: number, factor: number, length: number): Range {
  const seen = Math.min(length, Math.max(SHORTEST_NS, (range.end - range.start) * factor));
  const share = (time - range.start) / (range.end - range.start);
  const start = time - share * seen;
  return within({ start, end: start + seen }, length);
}

/** Around something, with as much room on both sides as it is long, but at least a thousandth of the step. */
export function around(start: number, end: number, length: number): Range {
  const room = Math.max(end - start, length / 1000);
  const seen = Math.min(length, 3 * room);
  const middle = (start + end) / 2;
  return within({ start: middle - seen / 2, end: middle + seen / 2 }, length);
}

/** Round times within the range, about `count` of them. */
export function ticks(range: Range, count: number): number[] {
  const rough = Math.max(1, (range.end - range.start) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const digit = rough / power;
  const between = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  const times: number[] = [];
  for (let time = Math.ceil(range.start / between) * between; time <= range.end; time += between) times.push(time);
  return times;
}
