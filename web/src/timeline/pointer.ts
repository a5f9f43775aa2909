/** The mouse on the timeline: wheel, drag, box, click, double-click. */
import type { Navigation } from "./navigation";
import type { Selection } from "./selection";
import { RULER, type Scrolls, rowAt, scrollTop, timeAt, tracksBetween } from "./stage";
import { flagsOnRuler } from "./paint_ruler";
import type { Flag, TimelineModel } from "./timeline_model";
import type { StepMark } from "../protocol";
import type { AddressWriter } from "./address_writer";
import { panned } from "./viewport";

const DRAG_BEGINS = 4; // CSS pixels
const LINE_HEIGHT = 16; // of a wheel that counts lines

export interface PointerOptions {
  model: TimelineModel;
  navigation: Navigation;
  selection: Selection;
  address: AddressWriter;
  isSelecting: () => boolean; // dragging chooses a range, without Shift too
  clickedRow: (key: string) => void; // a line with the name of a process
}

interface Drag {
  kind: "pan" | "range";
  x: number;
  y: number;
  start: number; // of the view when it began
  scrolls: Scrolls;
  time: number; // where it began
  hasMoved: boolean;
}

export function watchPointer(canvas: HTMLCanvasElement, options: PointerOptions): void {
  const { model, navigation, selection, address } = options;
  let drag: Drag | null = null;

  const pointOf = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const point = (event: MouseEvent): void => {
    model.pointer = pointOf(event);
    model.changed();
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    point(event);
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_HEIGHT : 1;
    const dx = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * unit;
    const dy = event.shiftKey ? 0 : event.deltaY * unit;
    if (event.altKey) model.scrollAt(pointOf(event).y, dy);
    else if (Math.abs(dx) > Math.abs(dy)) navigation.pan(dx / model.stage.width);
    else navigation.zoom(Math.exp(Math.min(Math.max(dy, -300), 300) / 400), timeAt(model.stage, pointOf(event).x));
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 && event.button !== 1) return;
    canvas.setPointerCapture(event.pointerId);
    const { x, y } = pointOf(event);
    const kind = event.button === 0 && (event.shiftKey || options.isSelecting()) ? "range" : "pan";
    drag = { kind, x, y, start: model.view.start, scrolls: { scroll: model.stage.scroll, pinnedScroll: model.stage.pinnedScroll }, time: navigation.snapped(x, y), hasMoved: false };
  });

  canvas.addEventListener("pointermove", (event) => {
    if (drag) dragTo(drag, pointOf(event));
    point(event);
  });

  const dragTo = (now: Drag, { x, y }: { x: number; y: number }): void => {
    if (!now.hasMoved && Math.hypot(x - now.x, y - now.y) < DRAG_BEGINS) return;
    now.hasMoved = true;
    if (now.kind === "pan") {
      canvas.classList.add("dragged");
      const by = ((now.x - x) / model.stage.width) * (model.view.end - model.view.start);
      model.setView(panned({ start: now.start, end: now.start + model.view.end - model.view.start }, by, model.shape.duration_ns));
      const { scroll, pinnedScroll } = now.scrolls;
      model.setScroll(now.y < scrollTop(model.stage) ? { pinnedScroll: pinnedScroll + now.y - y } : { scroll: scroll + now.y - y });
      address.moved();
      return;
    }
    const time = navigation.snapped(x, y);
    const isOfAll = now.y < RULER.height || Math.abs(y - now.y) < LINE_HEIGHT;
    const tracks = isOfAll ? null : tracksBetween(model.stage, Math.min(now.y, y), Math.max(now.y, y));
    const start = Math.max(0, Math.min(now.time, time));
    model.range = { start, end: Math.max(start + 1, now.time, time), tracks };
    model.changed();
  };

  canvas.addEventListener("pointerup", (event) => {
    const ended = drag;
    drag = null;
    canvas.classList.remove("dragged");
    if (!ended) return;
    if (!ended.hasMoved) click(pointOf(event));
    else if (ended.kind === "range") navigation.setRange(model.range);
  });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
    canvas.classList.remove("dragged");
  });

  const click = (at: { x: number; y: number }): void => {
    if (model.measure?.to === null) {
      navigation.measure();
      return;
    }
    const step = stepAt(model, at);
    const flag = flagAt(model, at);
    const row = rowAt(model.stage, at.y)?.row;
    if (step) navigation.setRange({ start: step.start_ns, end: step.start_ns + step.duration_ns, tracks: null });
    else if (flag) selection.choose(flag.place.id, "there");
    else if (row && !row.track) options.clickedRow(row.foldKey);
    else if (at.y >= RULER.height) selection.chooseDrawn(model.spanAt(at));
  };

  canvas.addEventListener("dblclick", (event) => {
    const at = pointOf(event);
    const step = stepAt(model, at);
    const span = model.spanAt(at);
    if (step) selection.zoomTo(step);
    else if (span) selection.zoomTo({ start_ns: span.start, duration_ns: span.duration });
  });

  canvas.addEventListener("pointerleave", () => {
    model.pointer = null;
    model.changed();
  });
}

export function stepAt(model: TimelineModel, at: { x: number; y: number }): StepMark | undefined {
  if (at.y < RULER.ticks || at.y >= RULER.ticks + RULER.steps) return undefined;
  const time = timeAt(model.stage, at.x);
  return model.shape.steps.find((step) => time >= step.start_ns && time < step.start_ns + step.duration_ns);
}

export function flagAt(model: TimelineModel, at: { x: number; y: number }): Flag | undefined {
  if (at.y < RULER.ticks + RULER.steps || at.y >= RULER.height) return undefined;
  return flagsOnRuler({ stage: model.stage }, model.flags).find(({ x, width }) => at.x >= x && at.x < x + width)?.flag;
}
