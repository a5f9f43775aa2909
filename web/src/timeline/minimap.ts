/** The whole trace in a strip: the busiest tracks, the steps, and the window, which can be dragged. */
import { element } from "../element";
import type { Track } from "../protocol";
import type { Frame } from "./frame";
import type { Look } from "./look";
import { minimapTracks } from "./minimap_tracks";
import { SpanPainter } from "./paint_spans";
import { type Surface, surface } from "./surface";
import type { TextFit } from "./text_fit";
import { type Spans, tilesIn } from "./tile";
import type { Draw } from "./tile_cache";
import type { TimelineModel } from "./timeline_model";
import { type Viewport, clamped } from "./viewport";
import { type Scene, levelOfScene } from "./wishes";

const ROW_HEIGHT = 12; // CSS pixels, at most
const LANES = 4; // of a track, the outermost

export interface Minimap extends Surface {
  readonly scene: () => Scene;
}

export function minimap(model: TimelineModel, lookNow: () => Look, fit: TextFit, moved: () => void): Minimap {
  const canvas = element("canvas", { class: "minimap", "aria-hidden": "true" });
  let made = { shape: model.shape, tracks: minimapTracks(model.shape) };
  const tracksNow = (): readonly Track[] => {
    if (made.shape !== model.shape) made = { shape: model.shape, tracks: minimapTracks(model.shape) };
    return made.tracks;
  };
  const painter = new SpanPainter(false);
  const wholeNow = (): Viewport => ({ start: 0, end: Math.max(1, model.shape.duration_ns) });
  let width = 1;
  const scene = (): Scene => ({
    view: wholeNow(),
    pixels: width * window.devicePixelRatio,
    duration: model.shape.duration_ns,
    tracks: tracksNow().map((track) => track.id),
  });

  /** The trace as a picture of its own, painted anew only where it changed: the window on it moves with every frame. */
  const picture = document.createElement("canvas");
  const pictureContext = picture.getContext("2d", { alpha: false });
  let painted: { look: Look; shape: object; version: number } | null = null;
  const paintTrace = (context: CanvasRenderingContext2D, height: number, ratio: number): Frame => {
    const whole = wholeNow();
    const look = lookNow();
    const frame: Frame = { context, pixels: context, ratio, look, fit, stage: { ...model.stage, width, height, view: whole } };
    const { version } = model.stores.spans;
    const isSame = painted?.look === look && painted.shape === model.shape && painted.version === version;
    if (isSame && picture.width === context.canvas.width && picture.height === context.canvas.height) return frame;
    painted = { look, shape: model.shape, version };
    picture.width = context.canvas.width;
    picture.height = context.canvas.height;
    if (pictureContext) paintTracks({ ...frame, context: pictureContext, pixels: pictureContext }, whole);
    return frame;
  };
  const paintTracks = (frame: Frame, whole: Viewport): void => {
    const { context, ratio, stage: { height } } = frame;
    const tracks = tracksNow();
    context.fillStyle = frame.look.raised;
    context.fillRect(0, 0, width * ratio, height * ratio);
    const level = levelOfScene(scene());
    const { first, last } = tilesIn(level, whole.start, whole.end, whole.end);
    const rowHeight = Math.floor(((height - 4) * ratio) / Math.max(1, tracks.length));
    painter.begin(frame, null);
    tracks.forEach((track, index) => {
      const lanes = Math.min(Math.max(1, track.lanes), LANES);
      const laneHeight = Math.max(1, Math.floor(Math.min(rowHeight - 1, ROW_HEIGHT * ratio) / lanes));
      const top = Math.round(2 * ratio) + index * rowHeight;
      const cover = (draw: Draw<Spans>): void => {
        for (let tile = first; tile <= last; ++tile) model.stores.spans.cover(track.id, level, tile, draw);
      };
      if (track.kind === "gaps") {
        painter.gaps(frame, top, laneHeight, cover);
        return;
      }
      const rows: number[] = [];
      for (let lane = 0; lane < lanes; ++lane) rows.push(painter.row(top + lane * laneHeight, laneHeight));
      cover((spans, start, end) => {
        rows.forEach((row, lane) => painter.lane(frame, spans, lane, start, end, row));
      });
    });
    painter.end(frame, null);
  };

  const paint = (context: CanvasRenderingContext2D, cssWidth: number, height: number, ratio: number): void => {
    width = cssWidth;
    const frame = paintTrace(context, height, ratio);
    context.drawImage(picture, 0, 0);
    paintWindow(frame, model, height);
  };

  const own = surface(canvas, { paint, themeChanged: () => undefined });
  const timeOf = (event: PointerEvent): number => {
    const box = canvas.getBoundingClientRect();
    return ((event.clientX - box.left) / Math.max(1, box.width)) * wholeNow().end;
  };
  let grip: number | null = null; // from the window's start to where it was taken
  canvas.addEventListener("pointerdown", (event) => {
    const at = timeOf(event);
    const { start, end } = model.view;
    grip = at >= start && at <= end ? at - start : (end - start) / 2;
    canvas.setPointerCapture(event.pointerId);
    move(event);
  });
  const move = (event: PointerEvent): void => {
    if (grip === null) return;
    const start = timeOf(event) - grip;
    model.setView(clamped({ start, end: start + model.view.end - model.view.start }, model.shape.duration_ns));
    moved();
  };
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", () => (grip = null));
  canvas.addEventListener("pointercancel", () => (grip = null));
  return { ...own, scene };
}

function paintWindow(frame: Frame, model: TimelineModel, height: number): void {
  const { context, look, ratio, stage } = frame;
  const scale = (stage.width * ratio) / stage.view.end;
  const left = Math.max(0, Math.round(model.view.start * scale));
  const right = Math.min(Math.max(left + 2 * ratio, Math.round(model.view.end * scale)), stage.width * ratio);
  context.fillStyle = look.ground;
  context.globalAlpha = 0.66;
  context.fillRect(0, 0, left, height * ratio);
  context.fillRect(right, 0, stage.width * ratio - right, height * ratio);
  context.globalAlpha = 1;
  context.strokeStyle = look.mark;
  context.lineWidth = Math.max(1, 1.5 * ratio);
  context.strokeRect(left + ratio, ratio, Math.max(1, right - left - 2 * ratio), height * ratio - 2 * ratio);
}
