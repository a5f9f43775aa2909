/** The files that the program's own calls come from, and one of them with its time beside each line. */
import { ask, isGivenUp } from "../api";
import { themeColor } from "../colors";
import { csvExport } from "../csv";
import { element, replace } from "../element";
import { formatNumber, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import { type Painting, paintedExports } from "../painted_picture";
import { numberIn } from "../place";
import type { SourceFiles, SourceText, TraceShape } from "../protocol";
import { adviceFor, hasDeviceWork, isMemorySnapshot } from "../recorded";
import { spanWords } from "../span_words";
import { change, place } from "../state";
import { VirtualRows } from "../table/virtual_rows";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { type FileGroup, type LinePlace, dearestLine, fileGroups, lineIn, longestLine, sourceCsv } from "./files";
import { type SourceLook, sourcePainting } from "./source_painting";

type Line = SourceText["lines"][number];
interface ColumnOf {
  title: string;
  width: string; // empty: what the others leave
}
const COLUMNS: readonly ColumnOf[] = [{ title: "Line", width: "10ch" }, { title: "", width: "" }, { title: "GPU", width: "12ch" }, { title: "Host", width: "12ch" }, { title: "Calls", width: "9ch" }];

/** In characters: all of the longest line of code, and the columns beside it. */
function leastWidth(lines: readonly Line[], columns: readonly ColumnOf[]): number {
  return columns.reduce((sum, { width }) => sum + (width === "" ? 0 : Number.parseFloat(width)), CODE_WIDTH * longestLine(lines) + 2);
}

const CODE_WIDTH = 1.15; // of a letter of code, in characters of the table
const AROUND = 30; // lines above and below those on the screen that a picture has, too

function show(room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const hasGpu = hasDeviceWork(page.shape);
  const device = page.shape.device_word;
  const columns = COLUMNS.filter(({ title }) => hasGpu || title !== "GPU").map((column) => (column.title === "GPU" ? { ...column, title: inTitle(device) } : column));
  const node = element("div", { class: "source-view" }, loadingNote());
  const files = element("nav", { class: "files", "aria-label": "Files" });
  const note = element("div", { class: "row-note" });
  const span = element("p", { class: "soft span-words" });
  let asked = new AbortController();
  let lines: readonly Line[] = [];
  let largest = { host: 1, device: 1 };
  let shownFile = -1;
  let shownName = "";

  const table = new VirtualRows("Lines. Arrows move, Enter shows the calls on the timeline.", "table", {
    columns: () => columns.length,
    row: (at, properties) => lineRow(lines[at], hasGpu, largest, properties, () => void follow(at)),
    key: (key, marked) => key === "Enter" && follow(marked),
  });
  const follow = (at: number): boolean => {
    const example = lines[at]?.example ?? null;
    if (example !== null) void showOnTimeline(page, example, null);
    return example !== null;
  };
  const showText = (text: SourceText, wanted: LinePlace | null): void => {
    const isOther = text.id !== shownFile || wanted !== null;
    shownFile = text.id;
    shownName = text.file;
    lines = text.lines;
    largest = {
      host: lines.reduce((most, { host_ns }) => Math.max(most, host_ns), 1),
      device: lines.reduce((most, { device_ns }) => Math.max(most, device_ns), 1),
    };
    replace(note, text.problem !== null && element("p", { class: "soft" }, text.problem));
    table.setTotal(lines.length);
    table.setLeastWidth(leastWidth(lines, columns));
    span.textContent = spanWords(text.mean_of, place()["steps"], page.shape.steps.length > 0);
    const at = wanted === null ? -1 : lines.findIndex(({ line }) => line === wanted.line);
    if (isOther) table.markInMiddle(at >= 0 ? at : dearestLine(lines));
  };
  const load = async (): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    try {
      const steps = place()["steps"];
      const answer = await ask<SourceFiles>("api/source", { steps }, asked.signal);
      const groups = fileGroups(answer.files);
      const line = lineIn(place());
      const named = line === null ? undefined : answer.files.find(({ file }) => file === line.file);
      const chosen = numberIn(place(), "file") ?? named?.id ?? groups[0]?.files[0]?.id;
      if (chosen === undefined) {
        replace(node, nothing(page.shape));
        return;
      }
      const text = await ask<SourceText>("api/source", { file: chosen, steps }, asked.signal);
      replace(files, ...groups.map((group) => fileList(group, chosen, hasGpu ? device : null)));
      if (!files.isConnected) replace(node, files, element("div", { class: "text" }, element("div", {}, note, span), table.node));
      showText(text, chosen === named?.id ? line : null);
    } catch (error) {
      if (!isGivenUp(error)) replace(node, errorNote(error));
    }
  };
  const painting = (): Painting => {
    const { first, end } = table.shown;
    const shown = lines.slice(Math.max(0, first - AROUND), end + AROUND);
    return sourcePainting({ file: shownName, lines: shown, width: table.node.clientWidth, hasGpu, largest, look: lookNow() });
  };
  replace(table.columns, ...columns.map(({ width }) => element("col", width === "" ? {} : { style: { width } })));
  replace(table.head, element("tr", { "aria-rowindex": 1 }, ...columns.map(({ title, width }) => element("th", { scope: "col", class: width === "" ? "" : "n" }, title))));
  room.append(node);
  void load();
  return {
    placeChanged(now, before) {
      if (now["steps"] !== before["steps"] || now["file"] !== before["file"] || now["line"] !== before["line"]) void load();
    },
    exports: () => (table.node.isConnected && lines.length > 0 ? [...paintedExports("source", painting), csvExport("Table as CSV", "source", () => sourceCsv(lines))] : []),
    pageChanged(next) {
      page = next;
      void load();
    },
    close() {
      asked.abort();
      table.close();
    },
  };
}

/** "GPU", "Device" */
function inTitle(device: string): string {
  return device.charAt(0).toUpperCase() + device.slice(1);
}

/** For a picture of the lines. */
function lookNow(): SourceLook {
  const { fontFamily } = getComputedStyle(document.body);
  const code = themeColor("--code");
  return { ground: themeColor("--ground"), ink: themeColor("--ink"), soft: themeColor("--soft"), bar: themeColor("--mark-ground"), text: fontFamily, code };
}

function nothing(shape: TraceShape): HTMLElement {
  const advice = adviceFor(shape, { torch: "Record with with_stack=True, or with telltale record --stacks.", ours: "Lines come from Python programs under telltale record." });
  if (isMemorySnapshot(shape)) return emptyNote("The trace does not say how long lines take. Memory names those that allocate.", advice);
  return emptyNote("The trace does not say which lines called what.", `${advice} To read the files here, start with: telltale view TRACE --source FOLDER`);
}

function fileList({ title, files }: FileGroup, chosen: number, device: string | null): HTMLElement {
  const items = files.map(({ id, file, device_ns, host_ns, is_readable }) =>
    element(
      "li",
      {},
      element(
        "button",
        { class: "file-button", "aria-current": id === chosen && "true", title: is_readable ? file : `${file}: only its lines with time, the text cannot be read`, on: { click: () => change({ file: id, line: null }) } },
        element("span", { class: is_readable ? "" : "soft" }, file),
        element("span", { class: "soft" }, `host ${formatTime(host_ns)}${device === null ? "" : ` · ${device} ${formatTime(device_ns)}`}`),
      ),
    ),
  );
  return element("section", {}, element("h2", {}, title), element("ul", {}, ...items));
}

function lineRow(line: Line | undefined, hasGpu: boolean, largest: { host: number; device: number }, properties: { class: string }, follow: () => void): HTMLElement {
  if (line === undefined) return element("tr", properties);
  const amount = (ns: number, most: number): HTMLElement =>
    element("td", { class: "n bar-cell", style: { "--share": `${(ns / most) * 100}%` } }, ns > 0 && formatTime(ns));
  const node = element(
    "tr",
    { ...properties, class: `${properties.class} ${line.example === null ? "plain" : ""}`.trim() },
    element("th", { scope: "row", class: "n soft" }, line.line),
    element("td", {}, element("code", {}, line.text ?? "")),
    hasGpu && amount(line.device_ns, largest.device),
    amount(line.host_ns, largest.host),
    element("td", { class: "n" }, line.calls > 0 && formatNumber(line.calls)),
  );
  if (line.example !== null) node.addEventListener("click", follow);
  return node;
}

export const source: View = {
  id: "source",
  title: "Source",
  key: "0",
  fills: true,
  keys: [
    { keys: "↑ ↓", does: "move between lines" },
    { keys: "Enter", does: "show the calls of a line on the timeline" },
  ],
  show,
};
