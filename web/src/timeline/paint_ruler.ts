/** Paints the top of the timeline: the time axis, the steps, and the flags of findings. */
import { formatTime } from "../format";
import type { StepMark } from "../protocol";
import { type Frame, SMALL_FONT, deviceX, pill, setFont } from "./frame";
import { RULER } from "./stage";
import { axisOf } from "./ticks";
import type { Flag } from "./timeline_model";

const TICK_GAP = 96; // CSS pixels between marks, at least
const FLAG_WIDTH = 16;
const BADGE_HEIGHT = 14;

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

/** `isOfHost`: a step takes longer than the host is at it. */
export function paintSteps(frame: Frame, steps: readonly StepMark[], isOfHost: boolean, chosen: (step: StepMark) => boolean): void {
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
    const name = `Step ${step.index}`;
    const room = until - left - 4 * ratio;
    const whole = `${name} · ${formatTime(step.duration_ns)}${isOfHost ? " on the host" : ""}`;
    const text = [whole, name].find((words) => fit.width(words) <= room) ?? fit.fit(String(step.index), until - left);
    context.fillStyle = look.ink;
    context.fillText(text, left, y + height / 2 + (SMALL_FONT * ratio) / 16);
  }
}

function firstStepEndingAfter(steps: readonly StepMark[], time: number): number {
  const index = steps.findIndex((step) => step.start_ns + step.duration_ns > time);
  return index < 0 ? steps.length : index;
}

/** A flag on the ruler, in CSS pixels. */
export interface ShownFlag {
  x: number; // of its badge
  pole: number; // where its evidence begins
  width: number;
  flag: Flag;
  places: number;
}

/**
 * Where flags stand, from left to right: none hides another. One that would is moved to the right of it; and of one
 * finding, those that leave too little room for the others are one.
 */
export function flagsOnRuler(frame: Pick<Frame, "stage">, flags: readonly Flag[]): ShownFlag[] {
  const { stage } = frame;
  const scale = stage.width / (stage.view.end - stage.view.start);
  const seen = flags.filter(({ place }) => place.start_ns <= stage.view.end && place.start_ns + place.duration_ns >= stage.view.start);
  const widths = new Map(seen.map(({ number }) => [number, flagWidth(number)]));
  const apart = [...widths.values()].reduce((sum, width) => sum + width, FLAG_WIDTH);
  const lastOf = new Map<number, ShownFlag>();
  const shown: ShownFlag[] = [];
  let free = 0;
  for (const flag of seen) {
    const pole = Math.max(0, (flag.place.start_ns - stage.view.start) * scale);
    const last = lastOf.get(flag.number);
    if (last && pole - last.pole < apart) {
      ++last.places;
      continue;
    }
    const width = flagWidth(flag.number);
    const item = { x: Math.max(pole, free), pole, width, flag, places: 1 };
    free = item.x + width;
    lastOf.set(flag.number, item);
    shown.push(item);
  }
  return shown;
}

export function paintFlags(frame: Frame, flags: readonly Flag[]): void {
  const { context, look, ratio } = frame;
  const y = (RULER.ticks + RULER.steps + 1) * ratio;
  const shown = flagsOnRuler(frame, flags);
  context.fillStyle = look.alarm;
  for (const { pole } of shown) paintPole(frame, pole * ratio, y);
  for (const { x, flag } of shown) paintBadge(frame, flag.number, x * ratio, y, look.alarm);
  context.globalAlpha = 1;
}

function paintPole({ context, ratio }: Frame, x: number, y: number): void {
  context.fillRect(Math.round(x), y, Math.max(1, Math.round(1.5 * ratio)), (BADGE_HEIGHT + 3) * ratio);
}

/** With the air behind it. */
function flagWidth(number: number): number {
  return badgeWidth(number) + 2;
}

function badgeWidth(number: number): number {
  return Math.max(FLAG_WIDTH - 2, 6 + 7 * String(number).length);
}

/** A number in a small flag that begins at x. */
export function paintBadge(frame: Frame, number: number, x: number, y: number, color: string): void {
  const { context, look, ratio } = frame;
  setFont(frame, 600);
  const width = badgeWidth(number) * ratio;
  context.fillStyle = color;
  pill(context, Math.round(x), y, width, BADGE_HEIGHT * ratio, 2 * ratio);
  context.fillStyle = look.ground;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(String(number), Math.round(x) + width / 2, y + (BADGE_HEIGHT / 2) * ratio + ratio * 0.5);
}
