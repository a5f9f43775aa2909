/** The module tree: what each costs forward and backward, with all that it calls. */
import { ask, askFile, isGivenUp } from "../api";
import { element, replace } from "../element";
import { formatCount, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import type { ModuleTime, Overview, Table } from "../protocol";
import { change, place } from "../state";
import { choice } from "../table/choice";
import { VirtualRows } from "../table/virtual_rows";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { ModuleTree, type TreeRow, type Weight } from "./module_tree";

const WEIGHTS = [
  { id: "device", title: "GPU time" },
  { id: "host", title: "host time" },
];
const SEARCHED_ROWS = 10; // those inside it have longer paths, and come later
const COLUMNS = ["Module", "Forward ■ and backward ■", "Forward", "Backward", "Own GPU", "Calls"];
const WIDTHS = ["", "28%", "11ch", "11ch", "11ch", "10ch"];

function weightNow(): Weight {
  return place()["weight"] === "host" ? "host" : "device";
}

function show(room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const note = element("div", { class: "row-note" }, loadingNote("Analyzing"));
  let asked = new AbortController();
  let tree = new ModuleTree([], "device");
  let open = new Set<number>();
  let rows: TreeRow[] = [];

  const table = new VirtualRows("Modules. Arrows move, left and right close and open, Enter shows the calls on the timeline.", "treegrid", {
    columns: () => COLUMNS.length,
    row: (at, properties) => treeRow(tree, rows[at], properties, { toggle: () => toggle(at), follow: () => void follow(at) }),
    key: (key, marked) => pressed(key, marked),
  });
  const redraw = (): void => {
    rows = tree.rows(open);
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
  const weights = choice("Bars show", WEIGHTS, (weight) => change({ weight }, "replace"));
  const openAll = (all: boolean): void => {
    open = all ? tree.all() : new Set();
    redraw();
  };
  const tools = element(
    "div",
    { class: "view-tools" },
    weights.node,
    element("button", { on: { click: () => openAll(true) } }, "Open all"),
    element("button", { on: { click: () => openAll(false) } }, "Close all"),
    element("span", { class: "soft" }, "Times of a step, including what is called inside."),
  );
  const load = async (keepsOpen: boolean): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    try {
      const { analyze } = await ask<Overview>("api/overview", { steps: place()["steps"] }, asked.signal);
      tree = new ModuleTree(analyze.modules, weightNow());
      if (!keepsOpen) open = tree.openAtFirst();
      replace(note, analyze.modules.length === 0 && nothing());
      tools.hidden = table.node.hidden = analyze.modules.length === 0;
      redraw();
    } catch (error) {
      if (!isGivenUp(error)) replace(note, errorNote(error));
    }
  };

  replace(table.columns, ...WIDTHS.map((width) => element("col", width === "" ? {} : { style: { width } })));
  replace(table.head, element("tr", { "aria-rowindex": 1 }, ...COLUMNS.map(headerCell)));
  weights.set(weightNow());
  room.append(element("div", { class: "table-view" }, tools, note, table.node));
  void load(false);
  return {
    placeChanged(now, before) {
      if (now["steps"] === before["steps"] && now["weight"] === before["weight"]) return;
      weights.set(weightNow());
      void load(now["steps"] === before["steps"]);
    },
    pageChanged(next) {
      page = next;
      void load(true);
    },
    exports: () => [{ label: "Table as CSV", name: "modules.csv", content: () => askFile("api/table.csv", { rows: "modules", steps: place()["steps"] }) }],
    close() {
      asked.abort();
      table.close();
    },
  };
}

function nothing(): HTMLElement {
  return emptyNote("The trace does not say which module called what.", "Record with with_modules=True and with_stack=True, or with telltale record.");
}

function headerCell(title: string, at: number): HTMLElement {
  const [before, middle, after] = title.split("■");
  if (middle === undefined) return element("th", { scope: "col", class: at > 1 ? "n" : "" }, title);
  return element("th", { scope: "col" }, before, element("span", { class: "key forward" }), middle, element("span", { class: "key backward" }), after);
}

function parentOf(rows: readonly TreeRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; --above) if ((rows[above]?.depth ?? 0) < depth) return above;
  return at;
}

function treeRow(tree: ModuleTree, row: TreeRow | undefined, properties: { class: string }, does: { toggle: () => void; follow: () => void }): HTMLElement {
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
  const amounts = [formatTime(forward), formatTime(backward), formatTime(module.self_device_ns), formatCount(module.calls)];
  const node = element(
    "tr",
    { ...properties, "aria-level": row.depth + 1, "aria-expanded": row.hasChildren ? String(row.isOpen) : null },
    name,
    element("td", {}, element("span", { class: "both" }, part("forward", forward), part("backward", backward))),
    ...amounts.map((text) => element("td", { class: "n" }, text)),
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
    { keys: "↑ ↓", does: "move between modules" },
    { keys: "← →", does: "close and open a module" },
    { keys: "Enter", does: "show its calls on the timeline" },
  ],
  show,
};
