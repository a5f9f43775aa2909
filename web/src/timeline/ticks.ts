/** Marks of the time axis and their labels. Pure. */
import { formatCount } from "../format";
import type { Nanoseconds } from "../protocol";

export interface Axis {
  step: Nanoseconds;
  base: Nanoseconds; // labels count from here; 0 where they count from the start of the trace
  ticks: { time: Nanoseconds; label: string }[];
}

const UNITS: readonly { name: string; size: number }[] = [
  { name: "s", size: 1e9 },
  { name: "ms", size: 1e6 },
  { name: "µs", size: 1e3 },
  { name: "ns", size: 1 },
];
const DIGITS_AT_MOST = 5; // of a label; beyond them labels count from a base

/** Marks at 1, 2 or 5 of a power of ten, at least `gap` pixels apart. */
export function axisOf(start: Nanoseconds, end: Nanoseconds, width: number, gap: number): Axis {
  const step = Math.max(1, niceStep(((end - start) * gap) / Math.max(1, width)));
  const base = end / step > 10 ** DIGITS_AT_MOST ? Math.floor(start / (step * 1000)) * step * 1000 : 0;
  const ticks: Axis["ticks"] = [];
  for (let index = Math.max(0, Math.ceil(start / step)); index * step <= end; ++index) {
    const time = index * step;
    ticks.push({ time, label: `${base > 0 ? "+" : ""}${inUnit(time - base, step, base > 0 ? 1000 * step : end)}` });
  }
  return { step, base, ticks };
}

/** The least of 1, 2, 5 × 10ⁿ that is not smaller. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/** A time with as many digits as neighbors at `step` need; all labels up to `largest` share a unit. */
export function inUnit(time: Nanoseconds, step: Nanoseconds, largest: Nanoseconds): string {
  const unit = UNITS.find((each) => largest >= each.size) ?? { name: "ns", size: 1 };
  if (time === 0) return `0 ${unit.name}`;
  const decimals = Math.max(0, Math.ceil(Math.log10(unit.size / step) - 1e-9));
  const [whole = "", part = ""] = (time / unit.size).toFixed(decimals).split(".");
  return `${formatCount(Number(whole))}${part === "" ? "" : `.${part}`} ${unit.name}`;
}

/** Where labels count from, at least a microsecond: all of its digits, and no zeros behind them. */
export function baseText(base: Nanoseconds): string {
  return inUnit(base, 1, base).replace(/\.?0+ /, " ");
}
