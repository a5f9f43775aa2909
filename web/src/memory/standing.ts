/** What stands in memory at a time, as tables: for what, by which line, module and operator, and the largest tensors. */
import { colorStyle } from "../colors";
import { type CsvCell, csvText } from "../csv";
import { type Child, element } from "../element";
import { counted, formatBytes, formatCount, formatShare, formatTime } from "../format";
import type { EventId, MemoryRow, MemoryStanding } from "../protocol";

const LISTED_ROWS = 12;
const OUTSIDE = "outside_pytorch"; // which is no part of what is allocated

const UNKNOWN = ["line not recorded", "outside of operators", "outside of modules"]; // what rows without a name are called

export interface StandingTables {
  categories: HTMLElement;
  others: (HTMLElement | null)[]; // without those that nothing is known of
}

export function standingTables(at: MemoryStanding, show: (example: EventId) => void): StandingTables {
  const share = (bytes: number): string => formatShare(bytes / Math.max(1, at.allocated_bytes));
  const key = (category: string): HTMLElement | false => {
    const found = at.categories.find((row) => row.category === category);
    return found !== undefined && element("span", { class: "key", style: colorStyle(found.color), title: found.words });
  };
  const words = (category: string): string => at.categories.find((row) => row.category === category)?.words ?? category;
  const link = (name: string, example: EventId | null): Child =>
    example === null ? name : element("button", { class: "link", title: `${name}: show on the timeline`, on: { click: () => show(example) } }, name);
  const bar = (bytes: number, largest: number): HTMLElement =>
    element("td", { class: "n bar-cell", style: { "--share": `${(100 * bytes) / Math.max(1, largest)}%` } }, formatBytes(bytes));

  const most = at.categories.reduce((largest, { bytes }) => Math.max(largest, bytes), 1);
  const categories = tableOf(
    "categories",
    ["for", "bytes", "share", "blocks"],
    at.categories.map((row) => [
      element("th", { scope: "row", title: row.words }, element("span", { class: "key", style: colorStyle(row.color) }), row.words),
      bar(row.bytes, most),
      element("td", { class: "n" }, row.category === OUTSIDE ? "–" : share(row.bytes)),
      element("td", { class: "n" }, row.blocks === 0 ? "–" : formatCount(row.blocks)),
    ]),
  );

  const rowsTable = (title: string, name: string, rows: readonly (MemoryRow & { category?: string })[]): HTMLElement | null => {
    const largest = rows[0]?.bytes ?? 1;
    const body = rows.slice(0, LISTED_ROWS).map((row) => [
      element("th", { scope: "row", title: row.name }, row.category !== undefined && key(row.category), link(row.name, row.example)),
      bar(row.bytes, largest),
      element("td", { class: "n" }, share(row.bytes)),
      element("td", { class: "n" }, formatCount(row.blocks)),
    ]);
    const listed = rows.slice(0, LISTED_ROWS).reduce((sum, { bytes }) => sum + bytes, 0);
    const rest = at.placed_bytes - listed;
    const isKnown = rows.some(({ name: each }) => !UNKNOWN.includes(each));
    if (!isKnown) return null;
    return element(
      "section",
      {},
      element("h3", {}, title),
      tableOf(name, ["", "bytes", "share", "blocks"], body),
      rest > 0 && element("p", { class: "soft" }, `and ${formatBytes(rest)} in others`),
    );
  };

  const tensors = at.tensors.map((tensor) => [
    element("th", { scope: "row", title: tensor.maker }, key(tensor.category), link(tensor.maker, tensor.example)),
    element("td", { class: "n" }, formatBytes(tensor.bytes)),
    element("td", {}, words(tensor.category)),
    element("td", { class: "n" }, tensor.made_ns === null ? "before" : formatTime(tensor.made_ns)),
    element("td", { class: "n" }, tensor.freed_ns === null ? "–" : formatTime(tensor.freed_ns)),
    element("td", { title: tensor.last_use }, tensor.last_use),
  ]);
  return {
    categories,
    others: [
      element(
        "section",
        { class: "wide" },
        element("h3", {}, at.tensors.length > 1 ? `The ${counted(at.tensors.length, "largest", "largest")}` : "The largest"),
        at.tensors.length === 0
          ? element("p", { class: "soft" }, "Nothing that was made within the recording.")
          : tableOf("tensors", ["made by", "bytes", "for", "made at", "freed at", "last used by"], tensors),
      ),
      rowsTable("Made by line", "lines", at.lines),
      rowsTable("Made by operator", "operators", at.operators),
      rowsTable("Made in module", "modules", at.modules),
    ],
  };
}

export function tableOf(name: string, heads: readonly string[], rows: readonly Child[][]): HTMLElement {
  const isText = (head: string): boolean => ["", "for", "made by", "last used by", "in no tensor"].includes(head);
  return element(
    "table",
    { class: `short-table memory-table ${name}` },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", class: isText(head) ? "" : "n" }, head)))),
    element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells))),
  );
}

/** All that modules made, with a row for those that are not listed. */
export function moduleRows(at: MemoryStanding): MemoryRow[] {
  const rest = at.placed_bytes - at.modules.reduce((sum, { bytes }) => sum + bytes, 0);
  return rest > 0 ? [...at.modules, { name: "smaller ones", bytes: rest, blocks: 0, example: null }] : at.modules;
}

/** All that is listed of what stands there, as CSV. */
export function standingCsv(at: MemoryStanding): string {
  const of = (list: string, rows: readonly (MemoryRow & { category?: string })[]): CsvCell[][] =>
    rows.map(({ name, bytes, blocks, category }) => [list, name, category ?? null, bytes, blocks, null, null, null]);
  return csvText(
    ["list", "name", "category", "bytes", "blocks", "made_ns", "freed_ns", "last_use"],
    [
      ...at.categories.map(({ category, words, bytes, blocks }) => ["category", words, category, bytes, blocks, null, null, null]),
      ...of("line", at.lines),
      ...of("operator", at.operators),
      ...of("module", at.modules),
      ...at.tensors.map(({ maker, category, bytes, made_ns, freed_ns, last_use }) => ["tensor", maker, category, bytes, null, made_ns, freed_ns, last_use]),
    ],
  );
}
