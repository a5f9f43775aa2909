/** The module tree: what each costs forward and backward, with all that it calls. */
import { ask, askFile, isGivenUp } from "../api";
import { element, replace, replaceAlike } from "../element";
import { counted, formatCount, formatNumber, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import type { ModuleTime, Overview, Table, TraceShape } from "../protocol";
import { adviceFor, hasDeviceWork } from "../recorded";
import { spanWords } from "../span_words";
import { change, place } from "../state";
import { choice } from "../table/choice";
import { VirtualRows } from "../table/virtual_rows";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { type ModuleOrder, ModuleTree, type TreeRow, type Weight } from "./module_tree";

const SEARCHED_ROWS = 10; // those inside it have longer paths, and come later
interface ColumnOf {
  by: ModuleOrder;
  title: string;
  width: string; // empty: what the others leave
}
const COLUMNS: readonly ColumnOf[] = [
  { by: "name", title: "Module", width: "" },
  { by: "cost", title: "Forward ■ and backward ■", width: "28%" },
  { by: "forward", title: "Forward", width: "11ch" },
  { by: "backward", title: "Backward", width: "11ch" },
  { by: "self", title: "Own", width: "13ch" },
  { by: "calls", title: "Calls", width: "10ch" },
];
const FIELDS = ["steps", "weight", "sort", "order", "filter"];
const FILTER_WAIT_MS = 200;

/** Without a device, nobody has time there. */
function weightNow(hasDevice: boolean): Weight {
  return hasDevice && place()["weight"] !== "host" ? "device" : "host";
}

function columnsOf(hasDevice: boolean, device: string): readonly ColumnOf[] {
  const columns = COLUMNS.map((column) => (column.by === "self" ? { ...column, title: `${column.title} ${device}` } : column));
  return hasDevice ? columns : columns.filter(({ by }) => by !== "self");
}

/** Names rise at first, amounts fall. */
function sortingNow(): { by: ModuleOrder; isRising: boolean } {
  const { by } = COLUMNS.find((column) => column.by === place()["sort"]) ?? { by: "cost" };
  const order = place()["order"] ?? (by === "name" ? "rising" : "falling");
  return { by, isRising: order === "rising" };
}

function sortBy(by: ModuleOrder): void {
  const now = sortingNow();
  const isRising = now.by === by ? !now.isRising : by === "name";
  change({ sort: by, order: isRising ? "rising" : "falling" }, "replace");
}

function show(room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const note = element("div", { class: "row-note" }, loadingNote("Analyzing"));
  let asked = new AbortController();
  let tree = new ModuleTree([], "device");
  let open = new Set<number>();
  let rows: TreeRow[] = [];
  let visible: ReadonlySet<number> | undefined; // those that pass the filter, where there is one
  let steps = 1; // that the numbers are a mean of
  let hasDevice = false;
  let columns: readonly ColumnOf[] = [];

  const table = new VirtualRows("Modules. Arrows move, left and right close and open, Enter shows the calls on the timeline.", "treegrid", {
    columns: () => columns.length,
    row: (at, properties) => treeRow({ tree, steps, columns }, rows[at], properties, { toggle: () => toggle(at), follow: () => void follow(at) }),
    key: (key, marked) => pressed(key, marked),
  });
  const redraw = (): void => {
    rows = tree.rows(open, visible);
    table.setTotal(rows.length);
  };
  const toggle = (at: number): void => {
    const row = rows[at];
    if (row === undefined || !row.hasChildren) return;
    if (!open.delete(row.module)) open.add(row.module);
    redraw();
  };
  const follow = async (at: number): Promise<void> => {
    const module = tree.modules[rows[at]?.module ?? -1];
    if (module !== undefined) await showModule(page, module);
  };
  const pressed = (key: string, marked: number): boolean => {
    const row = rows[marked];
    if (row === undefined) return false;
    if (key === "ArrowRight" && !row.isOpen) toggle(marked);
    else if (key === "ArrowRight") table.mark(Math.min(marked + 1, rows.length - 1));
    else if (key === "ArrowLeft" && row.isOpen && row.hasChildren) toggle(marked);
    else if (key === "ArrowLeft") table.mark(parentOf(rows, marked));
    else if (key === "Enter") void follow(marked);
    else return false;
    return true;
  };
  const kinds = [{ id: "device", title: `${page.shape.device_word} time` }, { id: "host", title: "host time" }];
  const weights = choice("Bars show", kinds, (weight) => change({ weight }, "replace"));
  const openAll = (all: boolean): void => {
    open = all ? tree.all() : new Set();
    redraw();
  };
  const filter = element("input", { type: "search", class: "filter", placeholder: "Filter by name", "aria-label": "Filter", value: place()["filter"] ?? "" });
  const count = element("span", { class: "soft count", role: "status" });
  const span = element("p", { class: "soft span-words" });
  let timer: number | undefined;
  filter.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => change({ filter: filter.value }, "replace"), FILTER_WAIT_MS);
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "ArrowDown" || event.key === "Enter") table.node.focus();
  });
  const applyFilter = (): void => {
    const text = place()["filter"] ?? "";
    const match = text === "" ? null : tree.matching(text);
    visible = match?.visible;
    if (match !== null) open = new Set(match.visible);
    count.textContent = match === null ? counted(tree.modules.length, "module") : `${formatCount(match.found)} of ${counted(tree.modules.length, "module")}`;
  };
  const tools = element(
    "div",
    { class: "view-tools" },
    filter,
    weights.node,
    element("button", { on: { click: () => openAll(true) } }, "Open all"),
    element("button", { on: { click: () => openAll(false) } }, "Close all"),
    count,
  );
  const setColumns = (): void => {
    columns = columnsOf(hasDevice, page.shape.device_word);
    replace(table.columns, ...columns.map(({ width }) => element("col", width === "" ? {} : { style: { width } })));
    replaceAlike(table.head, element("tr", { "aria-rowindex": 1 }, ...columns.map(headerCell)));
  };
  const load = async (keepsOpen: boolean): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    hasDevice = hasDeviceWork(page.shape);
    weights.set(weightNow(hasDevice));
    weights.node.hidden = !hasDevice;
    try {
      const { analyze } = await ask<Overview>("api/overview", { steps: place()["steps"] }, asked.signal);
      const { by, isRising } = sortingNow();
      tree = new ModuleTree(analyze.modules, weightNow(hasDevice), by, isRising);
      steps = Math.max(1, analyze.step.count);
      if (!keepsOpen) open = tree.openAtFirst();
      applyFilter();
      setColumns();
      span.textContent = analyze.modules.length === 0 ? "" : `${spanWords(steps, place()["steps"], page.shape.steps.length > 0)} Times include what is called inside.`;
      replace(note, analyze.modules.length === 0 && nothing(page.shape));
      tools.hidden = table.node.hidden = analyze.modules.length === 0;
      redraw();
    } catch (error) {
      if (!isGivenUp(error)) replace(note, errorNote(error));
    }
  };

  room.append(element("div", { class: "table-view" }, tools, span, note, table.node));
  void load(false);
  return {
    placeChanged(now, before) {
      if (FIELDS.every((name) => now[name] === before[name])) return;
      if (filter.value !== (now["filter"] ?? "") && document.activeElement !== filter) filter.value = now["filter"] ?? "";
      void load(now["steps"] === before["steps"]);
    },
    keyDown(event) {
      if (event.key !== "/") return false;
      filter.focus();
      filter.select();
      return true;
    },
    pageChanged(next) {
      page = next;
      void load(true);
    },
    exports: () => [{ label: "Table as CSV", name: "modules.csv", content: () => askFile("api/table.csv", { rows: "modules", steps: place()["steps"] }) }],
    close() {
      window.clearTimeout(timer);
      asked.abort();
      table.close();
    },
  };
}

function nothing(shape: TraceShape): HTMLElement {
  return emptyNote(
    "The trace does not say which module called what.",
    adviceFor(shape, { torch: "Record with with_modules=True and with_stack=True, or with telltale record --stacks.", ours: "Modules come from PyTorch programs under telltale record." }),
  );
}

function headerCell({ by, title }: ColumnOf, at: number): HTMLElement {
  const sorting = sortingNow();
  const isSorted = by === sorting.by;
  const [before, middle, after] = title.split("■");
  const words = middle === undefined ? [title] : [before, element("span", { class: "key forward" }), middle, element("span", { class: "key backward" }), after];
  return element(
    "th",
    { scope: "col", class: at > 1 ? "n" : "", "aria-sort": isSorted && (sorting.isRising ? "ascending" : "descending") },
    element("button", { class: "link", on: { click: () => sortBy(by) } }, ...words, isSorted && (sorting.isRising ? " ▴" : " ▾")),
  );
}

function parentOf(rows: readonly TreeRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; --above) if ((rows[above]?.depth ?? 0) < depth) return above;
  return at;
}

interface Listed {
  tree: ModuleTree;
  steps: number; // that the numbers are a mean of
  columns: readonly ColumnOf[];
}

function treeRow({ tree, steps, columns }: Listed, row: TreeRow | undefined, properties: { class: string }, does: { toggle: () => void; follow: () => void }): HTMLElement {
  const module = row === undefined ? undefined : tree.modules[row.module];
  if (row === undefined || module === undefined) return element("tr", properties);
  const { forward, backward } = tree.times(row.module);
  const largest = Math.max(1, ...tree.childrenOf(null).map((root) => tree.cost(root)));
  const twist = row.hasChildren ? (row.isOpen ? "▾" : "▸") : "";
  const name = element(
    "th",
    { scope: "row", title: module.path, style: { "padding-left": `${1 + row.depth * 1.1}rem` } },
    element("button", { class: "twist link", tabindex: -1, "aria-hidden": "true", on: { click: stopped(does.toggle) } }, twist),
    module.name,
  );
  const part = (kind: string, ns: number): HTMLElement | false => ns > 0 && element("span", { class: `meter ${kind}`, style: { width: `${(ns / largest) * 100}%` } });
  const amounts: Partial<Record<ModuleOrder, string>> = {
    forward: formatTime(forward), backward: formatTime(backward), self: formatTime(module.self_device_ns), calls: formatNumber(module.calls / steps),
  };
  const node = element(
    "tr",
    { ...properties, "aria-level": row.depth + 1, "aria-expanded": row.hasChildren ? String(row.isOpen) : null },
    name,
    element("td", {}, element("span", { class: "both" }, part("forward", forward), part("backward", backward))),
    ...columns.flatMap(({ by }) => amounts[by] ?? []).map((text) => element("td", { class: "n" }, text)),
  );
  node.addEventListener("click", does.follow);
  return node;
}

function stopped(then: () => void): (event: Event) => void {
  return (event) => {
    event.stopPropagation();
    then();
  };
}

/** The table of modules knows an example of each, and the name of all of its calls. */
async function showModule(page: Page, { path }: ModuleTime): Promise<void> {
  const { rows } = await ask<Table>("api/table", { rows: "modules", filter: path, sort: "path", order: "rising", steps: place()["steps"], limit: SEARCHED_ROWS });
  const row = rows.find(({ cells }) => cells[0] === path);
  await showOnTimeline(page, row?.example ?? null, row?.search ?? null);
}

export const modules: View = {
  id: "modules",
  title: "Modules",
  key: "5",
  fills: true,
  keys: [
    { keys: "/", does: "filter" },
    { keys: "↑ ↓", does: "move between modules" },
    { keys: "← →", does: "close and open a module" },
    { keys: "Enter", does: "show its calls on the timeline" },
  ],
  show,
};
