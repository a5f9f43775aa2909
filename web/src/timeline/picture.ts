/** Paints the timeline's canvas: one frame of all that is visible, and nothing else. */
import type { Spans } from "./tile";
import { tilesIn } from "./tile";
import { type Frame, clipped, setFont } from "./frame";
import { CounterPainter, paintCounterScale, scaleOf } from "./paint_counters";
import { paintFlagged, paintMeasure, paintRange, paintSelected } from "./paint_marks";
import { paintAxis, paintFlags, paintSteps } from "./paint_ruler";
import { SpanPainter, hatchOf } from "./paint_spans";
import { type PlacedRow, RULER, scrollTop, timeAt, visibleRows } from "./stage";
import type { TimelineModel } from "./timeline_model";
import { levelOfScene } from "./wishes";

const SHADE = 0.16; // of gaps behind the streams of their device

export class Picture {
  private readonly spans = new SpanPainter();
  private readonly counters = new CounterPainter();
  private hatch: { pattern: CanvasPattern | null; ratio: number } | null = null;

  /** Returns where the labels of the axis count from. */
  paint(frame: Frame, model: TimelineModel): number {
    const { context, look, ratio, stage } = frame;
    this.hatch = this.hatch?.ratio === ratio ? this.hatch : { pattern: hatchOf(context, ratio), ratio };
    context.fillStyle = look.ground;
    context.fillRect(0, 0, stage.width * ratio, stage.height * ratio);
    const base = paintAxis(frame);
    const rows = visibleRows(stage);
    const top = scrollTop(stage);
    clipped(frame, 0, RULER.height, stage.width, top - RULER.height, () => this.rows(frame, model, rows.filter(({ row }) => row.isPinned)));
    clipped(frame, 0, top, stage.width, stage.height - top, () => this.rows(frame, model, rows.filter(({ row }) => !row.isPinned)));
    if (top > RULER.height) {
      context.fillStyle = look.soft;
      context.fillRect(0, top * ratio - ratio, stage.width * ratio, ratio);
    }
    paintSteps(frame, model.shape.steps, model.isPacedByDevice, (step) => model.isStepChosen(step));
    paintFlags(frame, model.flags);
    context.fillStyle = look.line;
    context.fillRect(0, RULER.height * ratio - ratio, stage.width * ratio, ratio);
    clipped(frame, 0, RULER.height, stage.width, stage.height - RULER.height, () => {
      paintFlagged(frame, model.flags);
      if (model.selected) paintSelected(frame, model.selected);
    });
    if (model.range) paintRange(frame, model.range);
    if (model.measure) paintMeasure(frame, model.measure, model.pointer && timeAt(stage, model.pointer.x));
    return base;
  }

  private rows(frame: Frame, model: TimelineModel, rows: readonly PlacedRow[]): void {
    const { context, look, ratio, stage } = frame;
    const hovered = model.pointer && model.pointer.y >= RULER.height ? model.pointer.y : null;
    for (const { row, y } of rows) {
      const isHovered = hovered !== null && hovered >= y && hovered < y + row.height;
      if (row.track && !isHovered) continue;
      context.fillStyle = look.raised;
      context.globalAlpha = row.track ? 0.7 : 1;
      context.fillRect(0, y * ratio, stage.width * ratio, (row.height - (row.track ? 0 : 2)) * ratio);
      context.globalAlpha = 1;
    }
    for (const placed of rows) if (placed.row.track?.kind === "stream") this.shade(frame, model, placed);
    this.spans.begin(frame, model.searched);
    for (const placed of rows) {
      if (placed.row.track?.kind === "counter") this.counter(frame, model, placed);
      else if (placed.row.track) this.track(frame, model, placed);
    }
    this.spans.end(frame, this.hatch?.pattern ?? null);
    setFont(frame);
    for (const { row, y } of rows) {
      if (row.track?.kind === "counter" && !row.isCollapsed) paintCounterScale(frame, row.track, y * ratio);
    }
    context.fillStyle = look.line;
    context.globalAlpha = 0.6;
    for (const { row, y } of rows) context.fillRect(0, Math.round((y + row.height - 2) * ratio), stage.width * ratio, Math.max(1, Math.round(ratio)));
    context.globalAlpha = 1;
  }

  private track(frame: Frame, model: TimelineModel, { row, y }: PlacedRow): void {
    const track = row.track;
    if (!track) return;
    const { ratio, stage } = frame;
    const first = Math.max(0, Math.floor((RULER.height - y) / row.laneHeight));
    const last = Math.min(Math.max(1, track.lanes) - 1, Math.floor((stage.height - y) / row.laneHeight));
    const height = Math.max(1, Math.round(row.laneHeight * ratio) - (row.laneHeight >= 4 ? Math.max(1, Math.round(ratio)) : 0));
    if (track.kind === "gaps") {
      this.spans.gaps(frame, Math.round(y * ratio), height, (draw) => this.pieces(model, track.id, draw));
      return;
    }
    const rows: number[] = [];
    for (let lane = first; lane <= last; ++lane) rows.push(this.spans.row(Math.round((y + lane * row.laneHeight) * ratio), height));
    this.pieces(model, track.id, (spans, start, end) => {
      rows.forEach((each, i) => this.spans.lane(frame, spans, first + i, start, end, each));
    });
  }

  private counter(frame: Frame, model: TimelineModel, { row, y }: PlacedRow): void {
    const track = row.track;
    if (!track) return;
    const { ratio } = frame;
    const scale = scaleOf(track);
    const box = { top: (y + 2) * ratio, bottom: (y + row.laneHeight) * ratio, thick: Math.max(1, Math.round(ratio)) };
    const scene = model.scene([track.id]);
    const level = levelOfScene(scene);
    const { first, last } = tilesIn(level, scene.view.start, scene.view.end, scene.duration);
    const { columns } = this.counters;
    columns.begin(Math.max(1, Math.round(frame.stage.width * ratio)));
    for (let tile = first; tile <= last; ++tile) {
      model.stores.counters.cover(track.id, level, tile, (points, start, end) => {
        columns.add(points, scene.view, start, Math.min(end, model.shape.duration_ns), scale, box);
      });
    }
    this.counters.paint(frame, scale, box);
  }

  /** The gaps of a stream's device behind the stream, pale. */
  private shade(frame: Frame, model: TimelineModel, { row, y }: PlacedRow): void {
    const gaps = model.gapsOf(row.track?.device ?? null);
    if (!gaps) return;
    const { context, look, ratio, stage } = frame;
    const scale = (stage.width * ratio) / (stage.view.end - stage.view.start);
    context.globalAlpha = SHADE;
    this.pieces(model, gaps.id, (spans, start, end) => {
      const left = Math.max(start, stage.view.start);
      const right = Math.min(end, stage.view.end);
      for (let i = 0; i < spans.count; ++i) {
        const from = Math.max(spans.start[i] ?? 0, left);
        const until = Math.min((spans.start[i] ?? 0) + (spans.duration[i] ?? 0), right);
        if ((until - from) * scale < 2 || (spans.busy[i] ?? 1) < 0.5) continue;
        context.fillStyle = look.colors[spans.color[i] ?? 0] ?? look.soft;
        context.fillRect((from - stage.view.start) * scale, y * ratio, (until - from) * scale, (row.height - 3) * ratio);
      }
    });
    context.globalAlpha = 1;
  }

  private pieces(model: TimelineModel, track: number, draw: (spans: Spans, start: number, end: number) => void): void {
    const scene = model.scene([track]);
    const level = levelOfScene(scene);
    const { first, last } = tilesIn(level, scene.view.start, scene.view.end, scene.duration);
    for (let tile = first; tile <= last; ++tile) model.stores.spans.cover(track, level, tile, draw);
  }
}
