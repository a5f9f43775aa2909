/** The geometry of the roofline plot: both axes logarithmic. Without DOM. */
import type { Roofline } from "../protocol";

export interface Range {
  low: number;
  high: number;
}

/** Whole powers of ten that hold all values, with at least two of them. */
export function powersAround(values: readonly number[]): Range {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return { low: 1, high: 100 };
  const least = positive.reduce((a, b) => Math.min(a, b));
  const most = positive.reduce((a, b) => Math.max(a, b));
  const low = Math.floor(Math.log10(least));
  const high = Math.ceil(Math.log10(most) + 1e-9);
  return { low: 10 ** low, high: 10 ** Math.max(high, low + 2) };
}

export function logScale({ low, high }: Range, start: number, end: number): (value: number) => number {
  const from = Math.log10(low);
  const span = Math.log10(high) - from;
  return (value) => start + ((Math.log10(Math.max(value, low / 10)) - from) / span) * (end - start);
}

export function powersOfTen({ low, high }: Range): number[] {
  const powers: number[] = [];
  for (let power = Math.round(Math.log10(low)); power <= Math.round(Math.log10(high)); ++power) powers.push(10 ** power);
  return powers;
}

const ROOM = 1.6; // times: what a dot or a label needs around it

const LEAST_SHARE = 1e-3; // of the memory's speed; what is slower waits for something else, and would stretch the plot

/** A kernel that has a place only below the memory's line: its bytes are known, its operations are not. */
export function isHollow(kernel: Roofline["kernels"][number], memorySpeed: number | null): boolean {
  return kernel.flops_per_second === null && memorySpeed !== null && kernel.bytes_per_second >= LEAST_SHARE * memorySpeed;
}

/** What holds all kernels and the corners of all ceilings, with room for dots and labels. */
export function rangesOf({ kernels, peaks, bytes_per_second }: Roofline): { x: Range; y: Range } {
  const corners = bytes_per_second === null ? [] : peaks.map(({ flops_per_second }) => flops_per_second / bytes_per_second);
  const around = (amounts: readonly (number | null)[]): number[] => amounts.flatMap((amount) => (amount === null ? [] : [amount / ROOM, amount * ROOM]));
  const hollow = kernels.flatMap((kernel) => (isHollow(kernel, bytes_per_second) ? [kernel.bytes_per_second] : []));
  const left = hollow.length > 0 && corners.length > 0 ? Math.min(...corners) / HOLLOW_ROOM : null;
  return {
    x: powersAround([...around(kernels.map(({ flops_per_byte }) => flops_per_byte)), ...corners.map((corner) => corner * LABEL_ROOM), ...(left === null ? [] : [left])]),
    y: powersAround([...around(kernels.map(({ flops_per_second }) => flops_per_second)), ...around(peaks.map(({ flops_per_second }) => flops_per_second)), ...(left === null ? [] : hollow.map((speed) => speed * left))]),
  };
}

const LABEL_ROOM = 8; // times: from the highest corner to the right, for the names of ceilings
const HOLLOW_ROOM = 100; // times: from the lowest corner to the left, for kernels that only their bytes are known of

/**
 * Where along the memory's line to draw kernels of which only the bytes are known: anywhere on it is as right, so they
 * stand side by side, the first at the right, left of the lowest corner.
 */
export function placesOfHollow(count: number, { low, high }: Range, lowestCorner: number): number[] {
  const [from, to] = [Math.log10(low) + 0.15, Math.log10(Math.max(low * 2, Math.min(high, lowestCorner / 3)))];
  return Array.from({ length: count }, (_, i) => 10 ** (to - ((to - from) * i) / Math.max(1, count - 1)));
}

/** Precisions with the same peak share a line: "fp64, fp32". */
export function sharedPeaks(peaks: Roofline["peaks"]): Roofline["peaks"] {
  const byPeak = new Map<number, string[]>();
  for (const { precision, flops_per_second } of peaks) {
    byPeak.set(flops_per_second, [...(byPeak.get(flops_per_second) ?? []), precision]);
  }
  return [...byPeak].map(([flops_per_second, precisions]) => ({ precision: precisions.join(", "), flops_per_second }));
}

/** A ceiling: memory limits on the left of its corner, the processor on the right. Two ends and the corner where it is. */
export function ceiling(peak: number, bytesPerSecond: number | null, { low, high }: Range): { x: number; y: number }[] {
  if (bytesPerSecond === null) return [{ x: low, y: peak }, { x: high, y: peak }];
  const corner = peak / bytesPerSecond;
  const left = { x: low, y: Math.min(peak, low * bytesPerSecond) };
  const right = { x: high, y: Math.min(peak, high * bytesPerSecond) };
  return corner > low && corner < high ? [left, { x: corner, y: peak }, right] : [left, right];
}

/** Dots whose area is their time. */
export function dotRadius(ns: number, mostNs: number): number {
  return mostNs <= 0 ? 3 : Math.max(3, 18 * Math.sqrt(ns / mostNs));
}
