/**
 * Amounts as people read them: the same rounding and units as in the terminal (src/base/amounts.h), so that a number
 * reads the same wherever it stands.
 */

type Unit = readonly [name: string, size: number];
const TIME_UNITS: readonly Unit[] = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9], ["min", 60e9], ["h", 3600e9]];
const BYTE_UNITS: readonly Unit[] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].map((name, i) => [name, 1024 ** i]);
const FLOP_UNITS: readonly Unit[] = ["FLOP", "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"].map((name, i) => [name, 1000 ** i]);

/** As printf's %.nf: what lies exactly between two goes to the even one, where toFixed goes up. */
function fixed(value: number, places: 0 | 1 | 2): string {
  const text = value.toFixed(places);
  const liesBetween = Math.abs(value * 2 ** (places + 1)) % 2 === 1;
  const last = text.charCodeAt(text.length - 1) - 48;
  return liesBetween && last % 2 === 1 ? text.slice(0, -1) + String(last - 1) : text;
}

/** Half away from zero, as std::round. */
function rounded(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

/** Three significant digits, or all of them before the point. */
function digits(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** In the largest unit of which there is at least one, as rounded to three digits. */
function inUnits(amount: number, units: readonly Unit[]): string {
  const size = Math.abs(amount);
  let [name, divisor] = units[0] as Unit;
  if (amount === 0) return `0 ${name}`;
  for (const [nextName, nextDivisor] of units.slice(1)) {
    const inNext = size / nextDivisor;
    if (inNext < 0.9995 || (inNext < 1 && size / divisor < 999.5)) break;
    [name, divisor] = [nextName, nextDivisor];
  }
  return divisor === 1 ? `${String(amount)} ${name}` : `${digits(amount / divisor)} ${name}`;
}

export function formatTime(ns: number): string {
  return inUnits(rounded(ns), TIME_UNITS);
}
export function formatBytes(bytes: number): string {
  return inUnits(rounded(bytes), BYTE_UNITS);
}
export function formatFlops(operations: number): string {
  return inUnits(rounded(operations), FLOP_UNITS);
}

/** "12,345" */
export function formatCount(count: number): string {
  const [, sign = "", whole = ""] = /^(-?)(\d+)/.exec(rounded(count).toFixed(0)) ?? [];
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Without a unit: "1.83", "12", "12,345", "0.00125". */
export function formatNumber(number: number): string {
  const largestWhole = 1e15;
  const size = Math.abs(number);
  if (size < largestWhole && (Number.isInteger(number) || size >= 999.5)) return formatCount(number);
  return size < 1 || size >= largestWhole ? general(number) : digits(number);
}

/** As printf's %.3g. */
function general(number: number): string {
  const [mantissa = "0", exponent = "0"] = number.toExponential(2).split("e");
  const power = Number(exponent);
  const withoutZeros = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < 3) return withoutZeros(number.toFixed(2 - power));
  const twoDigits = String(Math.abs(power)).padStart(2, "0");
  return `${withoutZeros(mantissa)}e${power < 0 ? "-" : "+"}${twoDigits}`;
}

/** Of 1, in tables: "29.8 %". */
export function formatShare(share: number): string {
  return `${fixed(share * 100, 1)} %`;
}

/** Of 100, in sentences: "3.0 %", "30 %". */
export function formatPercent(percent: number): string {
  const isSmall = Math.abs(percent) < 9.95 && percent !== 0;
  return `${fixed(percent, isSmall ? 1 : 0)} %`;
}

/** A count and its noun: "1 kernel", "0 kernels", "12.5 kernels". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  const whole = rounded(count);
  const number = formatNumber(Math.abs(count - whole) < 0.005 ? whole : count);
  return `${number} ${number === "1" ? noun : plural}`;
}
