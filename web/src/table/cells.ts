/** Cells of tables as text, and what a header does when it is clicked. Without DOM. */
import { formatBytes, formatFlops, formatNumber, formatPercent, formatTime } from "../format";
import type { Cell, Column } from "../protocol";

const FORMATS: Record<Exclude<Column["unit"], "text">, (amount: number) => string> = {
  ns: formatTime,
  bytes: formatBytes,
  count: formatNumber, // a step's mean need not be whole
  percent: formatPercent,
  flops: formatFlops,
};

const MOST_CHARACTERS = 1000; // names in traces may be megabytes long

export function cellText(cell: Cell, unit: Column["unit"]): string {
  if (cell === null) return "";
  if (typeof cell === "number" && unit !== "text") return FORMATS[unit](cell);
  const text = String(cell);
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}

export interface Sorting {
  sort: string; // a column; empty: as the server has it
  order: "falling" | "rising";
}

/** Numbers fall at first, since the largest are of interest, and texts rise. A second click turns around. */
export function sortedBy(column: Column, now: Sorting): Sorting {
  const first = column.unit === "text" ? "rising" : "falling";
  const other = first === "falling" ? "rising" : "falling";
  const isAgain = now.sort === column.id && now.order === first;
  return { sort: column.id, order: isAgain ? other : first };
}

/** The column whose bars stand behind the rows: the sorted one where it has amounts, else the first time. */
export function barColumn(columns: readonly Column[], sort: string): number {
  const sorted = columns.findIndex(({ id, unit }) => id === sort && unit !== "text");
  return sorted >= 0 ? sorted : columns.findIndex(({ unit }) => unit === "ns");
}

const DETAILS = new Set(["device_average_ns", "cpu_once_ns", "cpu_average_ns", "device_memory_bytes", "self_cpu_memory_bytes", "cpu_memory_bytes"]);

/** Which columns to show, and in which order: texts first, and all amounts or only those that one mostly looks at. */
export function shownColumns(columns: readonly Column[], all: boolean, sort: string): number[] {
  const places = columns.map((_, at) => at);
  const isText = (at: number): boolean => columns[at]?.unit === "text";
  const isShown = (at: number): boolean => {
    const id = columns[at]?.id ?? "";
    return all || id === sort || !DETAILS.has(id);
  };
  return [...places.filter(isText), ...places.filter((at) => !isText(at) && isShown(at))];
}

/** How wide a column is, in characters: as its longest amount ("1,023 TFLOP"), or as its title. Texts share the rest. */
export function columnWidth({ title, unit }: Column): number {
  const longest = { text: 24, ns: 9, count: 9, percent: 8, bytes: 11, flops: 12 }[unit];
  return Math.max(title.length + 4, longest);
}
