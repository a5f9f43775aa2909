/** Draws the rows onto a canvas, in the colors of the report's style sheet. */
import { formatTime } from "../format.js";
import { type Row, heightOf } from "./layout.js";
import { type Range, ticks } from "./range.js";
import type { Place, Span, Work } from "./step.js";

export interface Inks {
  fill: string[]; // by work
  text: string[];
  raised: string;
  line: string;
  soft: string;
  ink: string;
  mark: string;
  font: string;
}

/** As they are now: they change when the reader's system goes dark. */
export function inksOf(works: readonly Work[], near: HTMLElement): Inks {
  const probe = near.appendChild(document.createElement("i"));
  const style = getComputedStyle(probe);
  const fill: string[] = [];
  const text: string[] = [];
  for (const work of works) {
    probe.className = work.style;
    fill.push(style.backgroundColor);
    text.push(style.color);
  }
  probe.className = "";
  const variable = (name: string): string => style.getPropertyValue(name).trim();
  const inks = {
    fill,
    text,
    raised: variable("--raised"),
    line: variable("--line"),
    soft: variable("--soft"),
    ink: variable("--ink"),
    mark: variable("--mark"),
    font: `11px ${style.fontFamily}`,
  };
  probe.remove();
  return inks;
}

const LEAST_WIDTH = 0.75; // so that nothing vanishes
const LEAST_FOR_TEXT = 28;
const PADDING = 4;

export class Picture {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly rows: readonly Row[],
    private readonly range: Range,
    private readonly stepLength: number,
    private readonly width: number,
    private readonly inks: Inks,
  ) {}

  draw(selected: Span | null, marked: number | null): void {
    const { context, rows, inks, width } = this;
    context.clearRect(0, 0, width, heightOf(rows));
    context.font = inks.font;
    context.textBaseline = "middle";
    context.fillStyle = inks.raised;
    for (const row of rows) {
      if (!("ticks" in row.content)) context.fillRect(0, row.top, width, row.height);
    }
    this.times();
    for (const row of rows) {
      const { content } = row;
      if ("ticks" in content) continue;
      if ("finding" in content) this.places(row, content.finding.places, content.finding.number === marked);
      else if ("lane" in content) this.spans(row, content.lane.spans, selected);
      else this.queue(row, content.queue);
    }
    const shown = rows.find(({ content }) => "finding" in content && content.finding.number === marked);
    if (shown && "finding" in shown.content) this.shade(shown, shown.content.finding.places);
  }

  private x(time: number): number {
    return ((time - this.range.start) / (this.range.end - this.range.start)) * this.width;
  }

  private times(): void {
    const { context, inks } = this;
    const [axis] = this.rows;
    if (!axis) return;
    for (const time of ticks(this.range, Math.max(2, this.width / 130))) {
      const x = this.x(time);
      const text = time === 0 ? "0" : formatTime(time);
      const half = context.measureText(text).width / 2;
      context.fillStyle = inks.line;
      context.fillRect(Math.round(x), axis.height, 1, heightOf(this.rows));
      context.fillStyle = inks.soft;
      context.fillText(text, Math.min(Math.max(0, x - half), this.width - 2 * half), axis.height / 2);
    }
  }

  private spans(row: Row, spans: readonly Span[], selected: Span | null): void {
    const { context, inks, range } = this;
    let drawnTo = -1; // what would cover less than half a pixel more is left out
    for (const span of spans) {
      if (span.end < range.start || span.start > range.end) continue;
      const left = Math.max(-1, this.x(span.start));
      const right = Math.max(Math.min(this.width + 1, this.x(span.end)), left + LEAST_WIDTH);
      if (right - drawnTo < 0.5 && span !== selected) continue;
      drawnTo = right;
      const share = span.events === 1 ? 1 : Math.min(1, span.busy / (span.end - span.start));
      const height = Math.max(2, row.height * share);
      context.fillStyle = inks.fill[span.work] ?? inks.soft;
      // Neighbors stay apart where there is room.
      context.fillRect(left, row.top + row.height - height, right - left > 3 ? right - left - 0.5 : right - left, height);
      if (share > 0.9 && right - left > LEAST_FOR_TEXT) {
        this.text(span.name, left, right, row, inks.text[span.work] ?? inks.ink);
      }
      if (span === selected) {
        context.strokeStyle = inks.ink;
        context.lineWidth = 2;
        context.strokeRect(left + 1, row.top + 1, Math.max(1, right - left - 2), row.height - 2);
      }
    }
  }

  private text(name: string, left: number, right: number, row: Row, ink: string): void {
    const from = Math.max(0, left) + PADDING;
    const room = Math.min(this.width, right) - PADDING - from;
    const text = fitted(name, room, (part) => this.context.measureText(part).width);
    if (!text) return;
    this.context.fillStyle = ink;
    this.context.fillText(text, from, row.top + row.height / 2);
  }

  private queue(row: Row, deepest: readonly number[]): void {
    const { context, inks } = this;
    const most = Math.max(1, ...deepest);
    const length = this.stepLength / deepest.length;
    context.fillStyle = inks.soft;
    context.globalAlpha = 0.55;
    deepest.forEach((depth, column) => {
      const left = this.x(column * length);
      const right = this.x((column + 1) * length);
      if (depth === 0 || right < 0 || left > this.width) return;
      const height = (0.95 * row.height * depth) / most;
      context.fillRect(left, row.top + row.height - height, right - left, height);
    });
    context.globalAlpha = 1;
  }

  private places(row: Row, places: readonly Place[], isMarked: boolean): void {
    const { context, inks } = this;
    context.fillStyle = inks.mark;
    context.globalAlpha = isMarked ? 1 : 0.6;
    for (const { start, end } of places) {
      if (end < this.range.start || start > this.range.end) continue;
      const left = this.x(start);
      context.fillRect(left, row.top + 3, Math.max(2, this.x(end) - left), row.height - 6);
    }
    context.globalAlpha = 1;
  }

  /** The places of one finding through all rows below it, but for one that is all that is seen. */
  private shade(row: Row, places: readonly Place[]): void {
    const { context, inks } = this;
    const top = row.top + row.height;
    context.fillStyle = inks.mark;
    context.globalAlpha = 0.14;
    for (const { start, end } of places) {
      if (end < this.range.start || start > this.range.end) continue;
      if (start <= this.range.start && end >= this.range.end) continue;
      const left = this.x(start);
      context.fillRect(left, top, Math.max(1, this.x(end) - left), heightOf(this.rows) - top);
    }
    context.globalAlpha = 1;
  }
}

/** As much of a name as fits, with "…" where something was cut off; nothing where too little would be left. */
export function fitted(name: string, room: number, widthOf: (text: string) => number): string {
  if (name === "" || room <= 0) return "";
  if (widthOf(name) <= room) return name;
  let low = 0;
  for (let high = name.length; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(`${name.slice(0, middle)}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : `${name.slice(0, low)}…`;
}
