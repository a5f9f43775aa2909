/**
 * A long table of which only the rows on the screen exist. A real <table>: the rows above and below are one tall empty
 * row each, and aria-rowindex says which ones are there. The keyboard marks a row, and whoever made the table says what
 * other keys do to it.
 */
import { element, replace } from "../element";
import { type RowWindow, rowWindow, scrollTo } from "./row_window";

export const ROW_HEIGHT = 26;

export interface RowSource {
  columns: () => number;
  row: (at: number, properties: { class: string; "aria-rowindex": number }) => HTMLElement;
  shown?: (rows: RowWindow) => void; // these are about to be made
  key?: (key: string, marked: number) => boolean; // true where it was used
}

export class VirtualRows {
  readonly node: HTMLElement;
  readonly head = element("thead");
  readonly columns = element("colgroup");
  private readonly body = element("tbody");
  private readonly table: HTMLTableElement;
  private readonly resized = new ResizeObserver(() => this.draw());
  private total = 0;
  private marked = -1;

  constructor(label: string, role: "table" | "treegrid", private readonly source: RowSource) {
    this.table = element("table", { class: "rows", role, "aria-label": label }, this.columns, this.head, this.body);
    this.node = element("div", { class: "row-room", tabindex: 0, role: "group", "aria-label": label }, this.table);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.node.addEventListener("keydown", (event) => this.keyDown(event));
    this.resized.observe(this.node);
  }

  setTotal(total: number): void {
    this.total = total;
    this.marked = Math.min(this.marked, total - 1);
    this.table.setAttribute("aria-rowcount", String(total + 1));
    this.draw();
  }

  /** Narrower rooms scroll sideways; the first column stays. */
  setLeastWidth(characters: number): void {
    this.table.style.minWidth = `${characters}ch`;
  }

  scrollToTop(): void {
    this.node.scrollTop = 0;
    this.marked = -1;
  }

  mark(at: number): void {
    this.marked = at;
    const top = scrollTo(at, this.node.scrollTop, this.node.clientHeight - ROW_HEIGHT, ROW_HEIGHT);
    if (top !== null) this.node.scrollTop = top;
    this.draw();
  }

  /** Marks a row that was not chosen by hand, with as much to see above it as below. */
  markInMiddle(at: number): void {
    this.marked = at;
    this.draw();
    this.node.scrollTop = (at + 1) * ROW_HEIGHT - this.node.clientHeight / 2;
    this.draw();
  }

  /** The rows that exist now. */
  get shown(): RowWindow {
    return rowWindow(this.node.scrollTop, this.node.clientHeight, ROW_HEIGHT, this.total);
  }

  draw(): void {
    const columns = this.source.columns();
    const { shown } = this;
    this.source.shown?.(shown);
    const rows = [spacer(shown.first, columns)];
    for (let at = shown.first; at < shown.end; ++at) {
      rows.push(this.source.row(at, { class: at === this.marked ? "marked" : "", "aria-rowindex": at + 2 }));
    }
    rows.push(spacer(this.total - shown.end, columns));
    replace(this.body, ...rows);
  }

  close(): void {
    this.resized.disconnect();
  }

  private keyDown(event: KeyboardEvent): void {
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey) return;
    const onScreen = Math.max(1, Math.floor(this.node.clientHeight / ROW_HEIGHT) - 2);
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: onScreen, PageUp: -onScreen, Home: -Infinity, End: Infinity };
    const move = moves[event.key];
    if (move !== undefined) this.mark(Math.max(0, Math.min(this.total - 1, this.marked + move)));
    else if (this.source.key?.(event.key, this.marked) !== true) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function spacer(rows: number, columns: number): HTMLElement {
  return element("tr", { class: "spacer", "aria-hidden": "true" }, element("td", { colspan: columns, style: { height: `${rows * ROW_HEIGHT}px` } }));
}
