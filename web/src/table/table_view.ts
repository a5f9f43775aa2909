/** Views that are a table: operators, kernels, lines. Sorted, filtered and grouped by the server. */
import { addressOf, ask, askFile, isGivenUp } from "../api";
import { element, replace } from "../element";
import { formatCount } from "../format";
import { emptyNote, errorNote } from "../messages";
import type { Place } from "../place";
import type { Column, Table } from "../protocol";
import { type RecordingAdvice, adviceFor } from "../recorded";
import { spanWords } from "../span_words";
import { change, place } from "../state";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { viewLink } from "../view_link";
import { type Sorting, sortedBy } from "./cells";
import { choice } from "./choice";
import { PAGE_ROWS } from "./row_window";
import { TableRows } from "./table_rows";

export interface TableKind {
  id: string;
  title: string;
  key: string;
  rows: readonly { id: string; title: string }[]; // which rows there are to choose from
  groups: readonly { id: string; title: string }[]; // what shares a row; empty: no choice
  hasDetails: boolean; // has columns that one seldom looks at
  missing: string; // a sentence where there are no rows
  empty: RecordingAdvice; // what to record to have them
}

const FILTER_WAIT_MS = 200;
const FIELDS = ["rows", "group", "filter", "sort", "order", "steps", "columns"];

export function tableView(kind: TableKind): View {
  return {
    id: kind.id,
    title: kind.title,
    key: kind.key,
    fills: true,
    keys: [
      { keys: "/", does: "filter" },
      { keys: "↑ ↓ PgUp PgDn", does: "move between rows" },
      { keys: "Enter", does: "show the calls of the row on the timeline" },
    ],
    show: (room, page) => showTable(kind, room, page),
  };
}

/** `usual`: which rows there are where the address names none. */
function parametersOf(kind: TableKind, now: Place, usual: string | undefined): Record<string, string | undefined> {
  return {
    rows: now["rows"] ?? usual,
    group: kind.groups.length > 0 ? now["group"] : undefined,
    filter: now["filter"],
    sort: now["sort"],
    order: now["order"],
    steps: now["steps"],
  };
}

function showTable(kind: TableKind, room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const filter = element("input", { type: "search", class: "filter", placeholder: "Filter by name, shape or stack", "aria-label": "Filter", value: place()["filter"] ?? "" });
  const count = element("span", { class: "soft count", role: "status" });
  const span = element("p", { class: "soft span-words" });
  const save = element("a", { class: "button", download: `${kind.id}.csv` }, "CSV");
  const below = element("div", { class: "row-note" });
  let asked = new AbortController();
  let sorting: Sorting = { sort: "", order: "falling" };
  let usual = kind.rows[0]?.id;
  const parameters = (now: Place): ReturnType<typeof parametersOf> => parametersOf(kind, now, usual);

  const rows = new TableRows(kind.title, {
    page: (offset) => ask<Table>("api/table", { ...parameters(place()), offset, limit: PAGE_ROWS }, asked.signal),
    chosen: ({ example, search }) => void showOnTimeline(page, example, search),
    nameLink: ({ cells }) => (kind.id === "lines" && page.server.has_source ? sourceLink(String(cells[0])) : null),
    sort: (column: Column) => change({ ...sortedBy(column, sorting) }, "replace"),
  });
  const csv = (): string => addressOf("api/table.csv", parameters(place()));

  const whichRows = choice("Rows", kind.rows, (id) => change({ rows: id, sort: null, order: null }));
  const groups = choice("A row for each", kind.groups, (group) => change({ group }));
  const allColumns = element("input", { type: "checkbox" });
  allColumns.addEventListener("change", () => change({ columns: allColumns.checked ? "all" : null }, "replace"));
  const setTools = (): void => {
    const now = parameters(place());
    whichRows.set(now["rows"] ?? "");
    groups.set(now["group"] ?? kind.groups[0]?.id ?? "");
    allColumns.checked = place()["columns"] === "all";
    save.href = csv();
  };
  /** Where the address says nothing, of the first rows that there are any of. */
  const firstRows = async (now: Place, signal: AbortSignal): Promise<Table> => {
    const page = (): Promise<Table> => ask<Table>("api/table", { ...parameters(now), limit: PAGE_ROWS }, signal);
    const table = await page();
    if (now["rows"] !== undefined || table.all > 0) return table;
    for (const { id } of kind.rows.slice(1)) {
      usual = id;
      const other = await page();
      if (other.all > 0) return other;
    }
    usual = kind.rows[0]?.id;
    return table;
  };
  const load = async (): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    const now = place();
    try {
      const table = await firstRows(now, asked.signal);
      setTools();
      sorting = { sort: table.sort, order: table.order };
      rows.setTable(table, sorting, now["columns"] === "all");
      count.textContent = countText(table);
      span.textContent = table.all === 0 ? "" : spanWords(table.mean_of, now["steps"], page.shape.steps.length > 0);
      rows.node.hidden = table.total === 0;
      replace(below, table.all === 0 ? emptyNote(kind.missing, adviceFor(page.shape, kind.empty)) : table.total === 0 && element("p", {}, `Nothing has “${now["filter"] ?? ""}” in its name, shapes or stack.`));
    } catch (error) {
      if (!isGivenUp(error)) replace(below, errorNote(error));
    }
  };

  let timer: number | undefined;
  filter.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => change({ filter: filter.value }, "replace"), FILTER_WAIT_MS);
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "ArrowDown" || event.key === "Enter") rows.node.focus();
  });
  const tools = element(
    "div",
    { class: "view-tools" },
    filter,
    kind.rows.length > 1 && whichRows.node,
    kind.groups.length > 1 && groups.node,
    kind.hasDetails && element("label", { class: "check-label" }, allColumns, "all columns"),
    count,
    save,
  );
  setTools();
  room.append(element("div", { class: "table-view" }, tools, span, below, rows.node));
  void load();
  return {
    placeChanged(now, before) {
      if (FIELDS.every((name) => now[name] === before[name])) return;
      if (filter.value !== (now["filter"] ?? "") && document.activeElement !== filter) filter.value = now["filter"] ?? "";
      rows.scrollToTop();
      setTools();
      void load();
    },
    pageChanged(next) {
      page = next;
      void load();
    },
    keyDown(event) {
      if (event.key !== "/") return false;
      filter.focus();
      filter.select();
      return true;
    },
    exports: () => [{ label: "Table as CSV", name: `${kind.id}.csv`, content: () => askFile("api/table.csv", parameters(place())) }],
    close() {
      window.clearTimeout(timer);
      asked.abort();
      rows.close();
    },
  };
}

/** From a line to where it stands in its file. */
function sourceLink(line: string): HTMLElement {
  const link = viewLink("source", { line, file: null }, { title: `Show ${line} in its file` }, line);
  link.addEventListener("click", (event) => event.stopPropagation());
  return link;
}

function countText({ total, all }: Table): string {
  return total === all ? `${formatCount(all)} ${all === 1 ? "row" : "rows"}` : `${formatCount(total)} of ${formatCount(all)} rows`;
}
