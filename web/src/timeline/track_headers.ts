/**
 * The names of tracks at the left, with what one can do to them. Only those on the screen exist. A header is moved by
 * dragging it, or with Alt and the arrow keys.
 */
import { element, replace, svg } from "../element";
import { counted, formatTime } from "../format";
import type { Device, Track } from "../protocol";
import { RULER, rowAt, scrollTop, visibleRows } from "./stage";
import type { TimelineModel } from "./timeline_model";
import type { TrackCommands } from "./track_commands";
import { ROW_AIR, type Row } from "./track_layout";

const DRAG_BEGINS = 5; // CSS pixels
const PIN = "M5 2.5h4M5.7 2.5v4L4 8.5h6l-1.7-2v-4M7 8.5v3.5"; // an icon

interface Drag {
  row: Row;
  y: number;
  hasMoved: boolean;
}

export class TrackHeaders {
  private readonly pinned = element("div", { class: "headers-pinned" });
  private readonly rest = element("div", { class: "headers-rest" });
  private readonly dropLine = element("div", { class: "drop-line", hidden: true });
  readonly node = element("div", { class: "track-headers", role: "group", "aria-label": "Tracks" }, this.pinned, this.rest, this.dropLine);
  private readonly shown = new Map<string, { node: HTMLElement; made: Row; from: number }>();
  private drag: Drag | null = null;

  constructor(
    private readonly model: TimelineModel,
    private readonly commands: TrackCommands,
  ) {
    this.node.addEventListener("wheel", (event) => {
      event.preventDefault();
      model.scrollAt(event.clientY - this.node.getBoundingClientRect().top, event.deltaY);
    }, { passive: false });
    this.node.addEventListener("pointermove", (event) => this.dragTo(event));
    this.node.addEventListener("pointerup", (event) => this.drop(event));
    this.node.addEventListener("pointercancel", () => this.endDrag());
  }

  /** Puts the headers where the rows are now. */
  update(): void {
    const { stage } = this.model;
    const top = scrollTop(stage);
    this.pinned.hidden = top === RULER.height;
    this.pinned.style.height = `${top - RULER.height}px`;
    this.pinned.style.top = `${RULER.height}px`;
    this.rest.style.top = `${top}px`;
    this.rest.style.height = `${Math.max(0, stage.height - top)}px`;
    const keys = new Set<string>();
    for (const { row, y } of visibleRows(stage)) {
      keys.add(row.key);
      let entry = this.shown.get(row.key);
      if (entry?.made !== row) {
        const hadFocus = entry?.node.contains(document.activeElement) ?? false;
        entry?.node.remove();
        entry = { node: this.header(row), made: row, from: Number.NaN };
        this.shown.set(row.key, entry);
        (row.isPinned ? this.pinned : this.rest).append(entry.node);
        if (hadFocus) entry.node.querySelector<HTMLElement>(".name")?.focus();
      }
      const from = Math.round(y - (row.isPinned ? RULER.height : top));
      if (from !== entry.from) entry.node.style.transform = `translateY(${(entry.from = from)}px)`;
    }
    for (const [key, { node }] of this.shown) {
      if (keys.has(key)) continue;
      node.remove();
      this.shown.delete(key);
    }
  }

  private header(row: Row): HTMLElement {
    const { track } = row;
    const canFold = track === null || track.lanes > 1 || track.kind === "counter";
    const word = track?.name ?? (row.process.name || `Process ${row.process.id}`);
    const name = element(
      "button",
      {
        class: "name", title: track ? titleOf(track, this.model.shape.devices) : word, "aria-expanded": canFold ? String(!row.isCollapsed) : null,
        on: { click: () => { if (canFold && this.drag?.hasMoved !== true) this.commands.toggleCollapsed(row.foldKey); } },
      },
      element("span", { class: "caret", "aria-hidden": "true" }, canFold ? (row.isCollapsed ? "▸" : "▾") : ""),
      element("span", { class: "word" }, word),
    );
    const node = element("div", { class: track ? `track-header ${track.kind}` : "track-header process", "data-key": row.key }, name);
    node.style.height = `${row.height}px`;
    if (track) {
      node.append(this.tools(row, track));
      name.addEventListener("keydown", (event) => this.keyOn(event, track));
    }
    node.addEventListener("pointerdown", (event) => {
      const isOnTool = event.target instanceof Element && event.target.closest(".tools") !== null;
      this.drag = track && event.button === 0 && !isOnTool ? { row, y: event.clientY, hasMoved: false } : null;
    });
    return node;
  }

  private tools(row: Row, track: Track): HTMLElement {
    const tool = (label: string, icon: string, act: () => void, isOn = false): HTMLElement => {
      const properties = { class: isOn ? "tool on" : "tool", tabindex: -1, title: label, "aria-label": `${label}: ${track.name}` };
      return element("button", { ...properties, on: { click: act } }, iconOf(icon));
    };
    return element(
      "span",
      { class: "tools" },
      tool("Up (Alt+↑)", "M3 9.5 7 5.5l4 4", () => this.commands.moveBy(track.id, -1)),
      tool("Down (Alt+↓)", "m3 5 4 4 4-4", () => this.commands.moveBy(track.id, 1)),
      tool("Hide (h)", "m3.5 3.5 7 7m0-7-7 7", () => this.commands.hide(track.id)),
      tool(row.isPinned ? "Unpin (p)" : "Pin to the top (p)", PIN, () => this.commands.togglePinned(track.id), row.isPinned),
    );
  }

  private keyOn(event: KeyboardEvent, track: Track): void {
    if (event.altKey && event.key === "ArrowUp") this.commands.moveBy(track.id, -1);
    else if (event.altKey && event.key === "ArrowDown") this.commands.moveBy(track.id, 1);
    else if (event.key === "p") this.commands.togglePinned(track.id);
    else if (event.key === "h") this.commands.hide(track.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private dragTo(event: PointerEvent): void {
    const { drag } = this;
    if (!drag || (!drag.hasMoved && Math.abs(event.clientY - drag.y) < DRAG_BEGINS)) return;
    if (!drag.hasMoved) this.node.setPointerCapture(event.pointerId);
    drag.hasMoved = true;
    const target = this.targetAt(event, drag.row);
    this.dropLine.hidden = target === null;
    if (target) this.dropLine.style.top = `${target.y}px`;
  }

  /** Before which track a drag would put its own, and where that is. */
  private targetAt(event: PointerEvent, dragged: Row): { before: number | null; y: number } | null {
    const { stage } = this.model;
    const y = event.clientY - this.node.getBoundingClientRect().top;
    const rows = dragged.isPinned ? stage.layout.pinned : stage.layout.rows;
    const base = dragged.isPinned ? RULER.height - stage.pinnedScroll : scrollTop(stage) - stage.scroll;
    const last = rows[rows.length - 1];
    if (last && y - base >= last.top + last.height) return dragged.isPinned ? null : { before: null, y: base + last.top + last.height - 2 };
    const hit = rowAt(stage, y)?.row ?? rowAt(stage, y - ROW_AIR)?.row;
    if (!hit || hit.isPinned !== dragged.isPinned) return null;
    const isLower = y - base - hit.top > hit.height / 2;
    const next = rows.slice(rows.indexOf(hit) + (isLower ? 1 : 0)).find((row) => row.track !== null);
    return { before: next?.track?.id ?? null, y: base + hit.top + (isLower ? hit.height : 0) - 2 };
  }

  private drop(event: PointerEvent): void {
    const { drag } = this;
    const target = drag?.hasMoved ? this.targetAt(event, drag.row) : null;
    const track = drag?.row.track;
    if (target && track && target.before !== track.id) this.commands.moveBefore(track.id, target.before);
    this.endDrag();
  }

  private endDrag(): void {
    this.dropLine.hidden = true;
    setTimeout(() => (this.drag = null)); // after the click that ends it
  }

  close(): void {
    replace(this.node);
  }
}

function titleOf(track: Track, devices: readonly Device[]): string {
  if (track.kind === "counter") return track.name;
  if (track.kind === "gaps") {
    const device = devices.find(({ id }) => id === track.device)?.name ?? "the device";
    return `Times in which ${device} has nothing to do.\nA color fills as much as its cause lasts.`;
  }
  return `${track.name}\n${counted(track.events, "event")}, busy ${formatTime(track.busy_ns)}`;
}

function iconOf(path: string): SVGElement {
  const line = { fill: "none", stroke: "currentColor", "stroke-width": "1.4", "stroke-linecap": "round", "stroke-linejoin": "round" };
  return svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d: path, ...line }));
}
