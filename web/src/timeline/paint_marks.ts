/** Paints what lies over the tracks: the chosen event and its arrows, the chosen range, the measure, findings' marks. */
import { formatTime } from "../format";
import type { EventPlace, Nanoseconds, Track } from "../protocol";
import { type Frame, SMALL_FONT, deviceX, pill, setFont } from "./frame";
import { paintBadge } from "./paint_ruler";
import { RULER, placeOfTrack } from "./stage";
import type { Flag, Measure, Selected } from "./timeline_model";
import type { Range } from "./timeline_place";

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
  track: Track | null;
}

const FAR = 10_000; // device pixels beyond the canvas: farther ends are drawn there

/** Where an event is, in device pixels; null where its track is not shown. */
export function boxOf(frame: Frame, place: EventPlace): Box | null {
  const found = placeOfTrack(frame.stage, place.track);
  if (!found) return null;
  const { ratio, stage } = frame;
  const top = (found.y + place.lane * found.row.laneHeight) * ratio;
  const bound = (x: number): number => Math.min(Math.max(x, -FAR), stage.width * ratio + FAR);
  const left = bound(deviceX(frame, place.start_ns));
  const right = Math.max(left + 1, bound(deviceX(frame, place.start_ns + place.duration_ns)));
  return { left, right, top, bottom: top + (found.row.laneHeight - 1) * ratio, track: found.row.track };
}

export function paintSelected(frame: Frame, selected: Selected): void {
  const { context, look, ratio } = frame;
  const box = boxOf(frame, selected.place);
  if (!box) return;
  let launch: Box | null = null; // kernels follow the launch that they belong to
  let cause: Box | null = null; // callers follow the call that they made
  for (const { role, direction, event } of selected.relations) {
    const other = boxOf(frame, event);
    if (!other) continue;
    outline(frame, other, look.mark, 1);
    const isOnDevice = other.track?.kind === "stream";
    if (direction === "cause") {
      connect(frame, other, cause && isInside(cause, other) ? cause : box);
      cause = other;
    } else {
      connect(frame, isOnDevice && launch ? launch : box, other);
      if (role === "launches" && !isOnDevice) launch = other;
    }
  }
  context.strokeStyle = look.ground;
  context.lineWidth = 4 * ratio;
  context.strokeRect(box.left - ratio, box.top - ratio, box.right - box.left + 2 * ratio, box.bottom - box.top + 2 * ratio);
  outline(frame, box, look.ink, 2);
}

function outline(frame: Frame, box: Box, color: string, width: number): void {
  const { context, ratio } = frame;
  context.strokeStyle = color;
  context.lineWidth = width * ratio;
  context.strokeRect(box.left - ratio, box.top - ratio, box.right - box.left + 2 * ratio, box.bottom - box.top + 2 * ratio);
}

/** Straight down to what lies inside of its cause, in a curve to all else. */
function connect(frame: Frame, cause: Box, effect: Box): void {
  if (!isInside(effect, cause)) curve(frame, cause, effect);
  else if (effect.top - cause.bottom > 4 * frame.ratio) drop(frame, cause, effect);
}

function isInside(inner: Box, outer: Box): boolean {
  return outer.track === inner.track && outer.left <= inner.left && inner.right <= outer.right && outer.top < inner.top;
}

function drop(frame: Frame, cause: Box, effect: Box): void {
  const { context, look, ratio } = frame;
  const x = effect.left + Math.min(5 * ratio, (effect.right - effect.left) / 2);
  for (const [color, width] of [[look.ground, 3.5], [look.mark, 1.5]] as const) {
    context.fillStyle = color;
    context.fillRect(x - (width * ratio) / 2, cause.bottom, width * ratio, effect.top - cause.bottom);
  }
  head(frame, x, effect.top, 0, 1);
}

/** The point of an arrow that goes in a direction. */
function head(frame: Frame, x: number, y: number, dx: number, dy: number): void {
  const { context, look, ratio } = frame;
  const [long, wide] = [7 * ratio, 4 * ratio];
  context.fillStyle = look.mark;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - long * dx - wide * dy, y - long * dy - wide * dx);
  context.lineTo(x - long * dx + wide * dy, y - long * dy + wide * dx);
  context.closePath();
  context.fill();
}

/** From the end of a cause, or its start where the effect begins earlier, to the start of the effect. */
function curve(frame: Frame, cause: Box, effect: Box): void {
  const { context, look, ratio } = frame;
  const fromX = cause.right <= effect.left ? cause.right : cause.left;
  const fromY = (cause.top + cause.bottom) / 2;
  const toX = effect.left;
  const toY = (effect.top + effect.bottom) / 2;
  const reach = Math.min(Math.max(Math.abs(toX - fromX) / 2, 14 * ratio), 120 * ratio);
  for (const [color, width] of [[look.ground, 3.5], [look.mark, 1.5]] as const) {
    context.strokeStyle = color;
    context.lineWidth = width * ratio;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.bezierCurveTo(fromX + reach, fromY, toX - reach, toY, toX - 5 * ratio, toY);
    context.stroke();
  }
  head(frame, toX, toY, 1, 0);
}

/** Outlines the evidence of findings on its tracks, with the finding's number where there is room. */
export function paintFlagged(frame: Frame, flags: readonly Flag[]): void {
  const { look, ratio, stage } = frame;
  let lastRight = Number.NEGATIVE_INFINITY;
  let lastTop = -1;
  for (const { number, place } of flags) {
    if (place.start_ns > stage.view.end || place.start_ns + place.duration_ns < stage.view.start) continue;
    const box = boxOf(frame, place);
    if (!box || box.bottom < RULER.height * ratio || box.top > stage.height * ratio) continue;
    if (box.top === lastTop && box.left < lastRight) continue;
    lastTop = box.top;
    lastRight = box.left + 18 * ratio;
    outline(frame, box, look.alarm, 1.5);
    if (box.right - box.left > 60 * ratio) paintBadge(frame, number, Math.min(box.right, stage.width * ratio) - 16 * ratio, box.top + ratio, look.alarm);
  }
}

/** Shades what lies outside of the range, and of its tracks. */
export function paintRange(frame: Frame, range: Range): void {
  const { context, look, ratio, stage } = frame;
  const left = Math.round(deviceX(frame, range.start));
  const right = Math.round(deviceX(frame, range.end));
  const height = stage.height * ratio;
  context.fillStyle = look.mark;
  context.globalAlpha = 0.1;
  if (range.tracks === null) context.fillRect(left, 0, right - left, height);
  else {
    context.fillRect(left, 0, right - left, RULER.height * ratio);
    for (const track of range.tracks) {
      const place = placeOfTrack(stage, track);
      if (place) context.fillRect(left, place.y * ratio, right - left, place.row.height * ratio);
    }
  }
  context.globalAlpha = 1;
  for (const x of [left, right]) context.fillRect(x, 0, Math.max(1, Math.round(1.5 * ratio)), height);
  distance(frame, range.start, range.end, (RULER.height + 10) * ratio, look.mark);
}

export function paintMeasure(frame: Frame, measure: Measure, pointerTime: Nanoseconds | null): void {
  const { context, look, ratio, stage } = frame;
  context.fillStyle = look.alarm;
  const to = measure.to ?? pointerTime;
  for (const time of to === null ? [measure.from] : [measure.from, to]) {
    context.fillRect(Math.round(deviceX(frame, time)), 0, Math.max(1, Math.round(1.5 * ratio)), stage.height * ratio);
  }
  if (to !== null) distance(frame, measure.from, to, (RULER.height + 34) * ratio, look.alarm);
}

/** A line between two times with their distance on it. */
function distance(frame: Frame, from: Nanoseconds, to: Nanoseconds, y: number, color: string): void {
  const { context, look, ratio, stage, fit } = frame;
  const left = Math.max(deviceX(frame, Math.min(from, to)), 0);
  const right = Math.min(deviceX(frame, Math.max(from, to)), stage.width * ratio);
  if (right < 0 || left > stage.width * ratio) return;
  context.fillStyle = color;
  context.fillRect(left, y, right - left, Math.max(1, ratio));
  const text = formatTime(Math.abs(to - from));
  setFont(frame, 600);
  const width = fit.width(text) + 14 * ratio;
  const height = (SMALL_FONT + 7) * ratio;
  const x = Math.min(Math.max((left + right - width) / 2, 2), stage.width * ratio - width - 2);
  pill(context, x, y - height / 2, width, height, 3 * ratio);
  context.fillStyle = look.ground;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x + width / 2, y + ratio);
}
