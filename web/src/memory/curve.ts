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

/** The same line with the ground below it. */
export function areaPath(times: readonly number[], values: readonly (number | null)[], end: number, x: Scale, y: Scale): string {
  const first = times[0];
  if (first === undefined) return "";
  return `${stepPath(times, values, end, x, y)}V${rounded(y(0))}H${rounded(x(first))}Z`;
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
