/** The geometry of the memory curve. Without DOM. */

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Scale {
  (value: number): number;
}

export function linear(from: number, to: number, start: number, end: number): Scale {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** A line that holds each value until the next one; parts where it is not known are left out. */
export function stepPath(times: readonly number[], values: readonly (number | null)[], end: number, x: Scale, y: Scale): string {
  let path = "";
  let isDown = false;
  times.forEach((time, at) => {
    const value = values[at] ?? null;
    if (value === null) {
      isDown = false;
      return;
    }
    const height = rounded(y(value));
    path += `${isDown ? "H" : "M"}${rounded(x(time))}${isDown ? "V" : ","}${height}`;
    path += `H${rounded(x(times[at + 1] ?? end))}`;
    isDown = true;
  });
  return path;
}

/** The layers of a stack: where each ends above, by time. */
export function stacked(layers: readonly (readonly number[])[]): number[][] {
  const tops: number[][] = [];
  for (const layer of layers) {
    const below = tops.at(-1);
    tops.push(layer.map((value, at) => value + (below?.[at] ?? 0)));
  }
  return tops;
}

/** What lies between two lines that hold each value until the next one; no `low`: the ground. */
export function bandPath(times: readonly number[], low: readonly number[] | undefined, high: readonly number[], end: number, x: Scale, y: Scale): string {
  if (times.length === 0) return "";
  let path = "";
  times.forEach((time, at) => {
    path += `${at === 0 ? `M${rounded(x(time))},` : "V"}${rounded(y(high[at] ?? 0))}H${rounded(x(times[at + 1] ?? end))}`;
  });
  for (let at = times.length - 1; at >= 0; --at) path += `V${rounded(y(low?.[at] ?? 0))}H${rounded(x(times[at] ?? 0))}`;
  return `${path}Z`;
}

/** Which layer an amount lies in at a point; null: above all of them. */
export function layerAt(tops: readonly (readonly number[])[], point: number, amount: number): number | null {
  if (amount < 0) return null;
  const layer = tops.findIndex((top) => amount < (top[point] ?? 0));
  return layer < 0 ? null : layer;
}

/** Which point of a curve holds at a time: the last one that is not later. */
export function pointAt(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Of rising times, the one that is nearest to another; nothing where there are none. */
export function nearest(times: readonly number[], time: number): number | undefined {
  const before = times[pointAt(times, time)];
  const behind = times[pointAt(times, time) + 1];
  if (before === undefined || behind === undefined) return before;
  return Math.abs(time - before) <= Math.abs(behind - time) ? before : behind;
}

/** Marks of an axis of bytes up to a largest amount: multiples of a power of 2, at most `count` and 0. */
export function byteTicks(largest: number, count: number): number[] {
  if (largest <= 0) return [0];
  const step = 2 ** Math.ceil(Math.log2(largest / count));
  const ticks: number[] = [];
  for (let tick = 0; tick <= largest; tick += step) ticks.push(tick);
  return ticks;
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}
