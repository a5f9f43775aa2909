/** Tables that the page itself writes as CSV: a header, then a line a row, as the server's have them. */
import type { Export } from "./view";

export type CsvCell = string | number | null;

export function csvText(head: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [head, ...rows].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

export function csvExport(label: string, name: string, text: () => string): Export {
  return { label, name: `${name}.csv`, content: () => new Blob([text()], { type: "text/csv" }) };
}

function csvCell(cell: CsvCell): string {
  const text = cell === null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
