/** Paints the top of the timeline: the time axis, the steps, and the flags of findings. */
import { formatTime } from "../format";
import type { StepMark } from "../protocol";
import { type Frame, SMALL_FONT, deviceX, pill, setFont } from "./frame";
import { RULER } from "./stage";
import { axisOf } from "./ticks";
import type { Flag } from "./timeline_model";

const TICK_GAP = 96; // CSS pixels between marks, at least
export const FLAG_WIDTH = 16;

/** Marks and lines; the lines go down through all tracks. Returns where labels count from. */
export function paintAxis(frame: Frame): number {
  const { context, look, ratio, stage } = frame;
  const axis = axisOf(stage.view.start, stage.view.end, stage.width, TICK_GAP);
  const thin = Math.max(1, Math.round(ratio));
  context.fillStyle = look.line;
  context.globalAlpha = 0.7;
  for (const tick of axis.ticks) context.fillRect(Math.round(deviceX(frame, tick.time)), 0, thin, stage.height * ratio);
  context.globalAlpha = 1;
  setFont(frame);
  context.fillStyle = look.soft;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const tick of axis.ticks) {
    const x = deviceX(frame, tick.time) + 4 * ratio;
    if (x + frame.fit.width(tick.label) <= stage.width * ratio) context.fillText(tick.label, x, (RULER.ticks / 2) * ratio);
  }
  return axis.base;
}

export function paintSteps(frame: Frame, steps: readonly StepMark[], chosen: (step: StepMark) => boolean): void {
  const { context, look, ratio, stage, fit } = frame;
  const y = RULER.ticks * ratio;
  const height = (RULER.steps - 2) * ratio;
  setFont(frame);
  context.textAlign = "left";
  context.textBaseline = "middle";
  if (steps.length === 0) {
    context.fillStyle = look.soft;
    context.fillText("The trace marks no steps", 5 * ratio, y + height / 2);
  }
  let painted = Number.NEGATIVE_INFINITY;
  for (let i = firstStepEndingAfter(steps, stage.view.start); i < steps.length; ++i) {
    const step = steps[i];
    if (!step || step.start_ns > stage.view.end) break;
    const from = Math.max(Math.round(deviceX(frame, step.start_ns)), -2);
    const until = Math.min(Math.round(deviceX(frame, step.start_ns + step.duration_ns)), stage.width * ratio + 2);
    if (until <= painted) continue;
    painted = until;
    const isChosen = chosen(step);
    context.fillStyle = isChosen ? look.mark : look.line;
    context.globalAlpha = isChosen ? 0.45 : i % 2 === 0 ? 1 : 0.6;
    context.fillRect(from, y, Math.max(1, until - from - Math.max(1, ratio)), height);
    context.globalAlpha = 1;
    const left = Math.max(from, 0) + 5 * ratio;
    const text = fit.fit(`Step ${step.index} · ${formatTime(step.duration_ns)}`, until - left - 4 * ratio) || fit.fit(String(step.index), until - left);
    context.fillStyle = look.ink;
    context.fillText(text, left, y + height / 2 + (SMALL_FONT * ratio) / 16);
  }
}

function firstStepEndingAfter(steps: readonly StepMark[], time: number): number {
  const index = steps.findIndex((step) => step.start_ns + step.duration_ns > time);
  return index < 0 ? steps.length : index;
}

/** Where flags stand, from left to right: those of one finding that would overlap are one. In CSS pixels. */
export function flagsOnRuler(frame: Pick<Frame, "stage">, flags: readonly Flag[]): { x: number; flag: Flag; places: number }[] {
  const { stage } = frame;
  const scale = stage.width / (stage.view.end - stage.view.start);
  const lastOf = new Map<number, { x: number; flag: Flag; places: number }>();
  const shown: { x: number; flag: Flag; places: number }[] = [];
  for (const flag of flags) {
    const { start_ns, duration_ns } = flag.place;
    if (start_ns > stage.view.end || start_ns + duration_ns < stage.view.start) continue;
    const x = Math.max(0, (start_ns - stage.view.start) * scale);
    const last = lastOf.get(flag.number);
    if (last && x - last.x < 2 * FLAG_WIDTH) {
      ++last.places;
      continue;
    }
    const item = { x, flag, places: 1 };
    lastOf.set(flag.number, item);
    shown.push(item);
  }
  return shown;
}

export function paintFlags(frame: Frame, flags: readonly Flag[]): void {
  const { context, look, ratio } = frame;
  const y = (RULER.ticks + RULER.steps + 1) * ratio;
  for (const { x, flag } of flagsOnRuler(frame, flags)) paintBadge(frame, flag.number, x * ratio, y, look.alarm);
  context.globalAlpha = 1;
}

/** A number in a small flag whose pole is at x. */
export function paintBadge(frame: Frame, number: number, x: number, y: number, color: string): void {
  const { context, look, ratio } = frame;
  const height = 14 * ratio;
  const text = String(number);
  setFont(frame, 600);
  const width = Math.max(FLAG_WIDTH - 2, 6 + 7 * text.length) * ratio;
  context.fillStyle = color;
  context.fillRect(Math.round(x), y, Math.max(1, Math.round(1.5 * ratio)), height + 3 * ratio);
  pill(context, Math.round(x), y, width, height, 2 * ratio);
  context.fillStyle = look.ground;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, Math.round(x) + width / 2, y + height / 2 + ratio * 0.5);
}
