/** The rows of a table of the server's, filled page by page as they come into sight. */
import { colorStyle } from "../colors";
import { element, replace, replaceAlike } from "../element";
import type { Column, Table } from "../protocol";
import { type Sorting, barColumn, cellText, columnWidth, shownColumns } from "./cells";
import { PAGE_ROWS, pagesOf } from "./row_window";
import { nameParts } from "./name_parts";
import { VirtualRows } from "./virtual_rows";

export type Row = Table["rows"][number];

export interface RowsActions {
  page: (offset: number) => Promise<Table>;
  chosen: (row: Row) => void;
  nameLink: (row: Row) => HTMLElement | null; // what to show of its name besides the text
  sort: (column: Column) => void;
}

const ROOM_FOR_BARS = 5; // characters
const KEPT_END = 18; // characters: where long names that begin alike differ

export class TableRows {
  private readonly rows: VirtualRows;
  private readonly pages = new Map<number, Table>();
  private readonly asked = new Set<number>();
  private first: Table | undefined;
  private sorting: Sorting = { sort: "", order: "falling" };
  private shown: readonly number[] = []; // columns
  private bars = -1; // the column with bars
  private largest = 0; // in it

  constructor(label: string, private readonly actions: RowsActions) {
    this.rows = new VirtualRows(`${label}. Arrows move, Enter shows the calls on the timeline.`, "table", {
      columns: () => this.shown.length,
      row: (at, properties) => this.row(at, properties),
      shown: (rows) => pagesOf(rows).forEach((offset) => void this.need(offset)),
      key: (key, marked) => key === "Enter" && this.choose(marked),
    });
  }

  get node(): HTMLElement {
    return this.rows.node;
  }

  /** Another table, of which this is the first page. */
  setTable(first: Table, sorting: Sorting, hasAllColumns: boolean): void {
    this.pages.clear();
    this.asked.clear();
    this.pages.set(0, first);
    this.first = first;
    this.sorting = sorting;
    this.shown = shownColumns(first.columns, hasAllColumns, sorting.sort);
    this.bars = barColumn(first.columns, sorting.sort);
    this.largest = first.rows.reduce((most, { cells }) => Math.max(most, Math.abs(Number(cells[this.bars] ?? 0))), 0);
    this.drawHead(this.shown.flatMap((at) => first.columns[at] ?? []));
    this.rows.setTotal(first.total);
  }

  scrollToTop(): void {
    this.rows.scrollToTop();
  }

  close(): void {
    this.rows.close();
  }

  private drawHead(columns: readonly Column[]): void {
    const headers = columns.map((column) => {
      const isSorted = column.id === this.sorting.sort;
      const isRising = this.sorting.order === "rising";
      const sort = (): void => this.actions.sort(column);
      return element(
        "th",
        { scope: "col", class: column.unit === "text" ? "" : "n", "aria-sort": isSorted && (isRising ? "ascending" : "descending"), title: column.text },
        element("button", { class: "link", on: { click: sort } }, column.title, isSorted && (isRising ? " ▴" : " ▾")),
      );
    });
    replaceAlike(this.rows.head, element("tr", { "aria-rowindex": 1 }, ...headers));
    const barred = this.first?.columns[this.bars];
    const widths = columns.map((column) => columnWidth(column) + (column === barred ? ROOM_FOR_BARS : 0));
    replace(this.rows.columns, ...columns.map(({ unit }, at) => element("col", unit === "text" ? {} : { style: { width: `${widths[at] ?? 0}ch` } })));
    this.rows.setLeastWidth(widths.reduce((sum, width) => sum + width, 0));
  }

  private async need(offset: number): Promise<void> {
    if (this.pages.has(offset) || this.asked.has(offset)) return;
    this.asked.add(offset);
    const wanted = this.first;
    try {
      const page = await this.actions.page(offset);
      if (wanted !== this.first) return;
      this.pages.set(offset, page);
      this.rows.draw();
    } catch {
      this.asked.delete(offset); // asked again when it is scrolled to
    }
  }

  private rowAt(at: number): Row | undefined {
    return this.pages.get(at - (at % PAGE_ROWS))?.rows[at % PAGE_ROWS];
  }

  private row(at: number, properties: { class: string }): HTMLElement {
    const row = this.rowAt(at);
    const columns = this.first?.columns ?? [];
    if (row === undefined) return element("tr", properties, element("td", { colspan: this.shown.length }, "…"));
    const node = element("tr", properties, ...this.shown.map((i) => this.cell(row, columns[i]?.unit ?? "text", i)));
    node.addEventListener("click", () => this.choose(at));
    return node;
  }

  private cell(row: Row, unit: Column["unit"], at: number): HTMLElement {
    const value = row.cells[at] ?? null;
    const text = cellText(value, unit);
    if (at === 0) return nameCell(text, element("span", { class: "key", style: colorStyle(row.color) }), this.actions.nameLink(row));
    if (unit === "text") return element("td", { title: text }, text);
    if (at !== this.bars || this.largest === 0) return element("td", { class: "n" }, text);
    const share = Math.min(1, Math.abs(Number(value ?? 0)) / this.largest);
    return element("td", { class: "n bar-cell", style: { "--share": `${share * 100}%` } }, text);
  }

  private choose(at: number): boolean {
    const row = this.rowAt(at);
    if (row !== undefined) this.actions.chosen(row);
    return row !== undefined;
  }
}

/** A name that is too long for its column loses its middle. */
function nameCell(text: string, key: HTMLElement, link: HTMLElement | null): HTMLElement {
  if (link !== null) return element("th", { scope: "row", title: text }, key, link);
  return element("th", { scope: "row", title: text }, element("span", { class: "name" }, key, ...nameParts(text, KEPT_END)));
}
