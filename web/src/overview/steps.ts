/** The steps of a trace as the strip shows them, and the choice of some of them as the server takes it. Without DOM. */
import { formatTime } from "../format";
import type { Analyze, StepMark } from "../protocol";

export interface Step {
  index: number;
  host_ns: number; // until the host begins the next one
  device_ns: number; // of work on the device; 0 where none is known
  state: "counted" | "left out" | "outlier" | "cut" | "warming up";
}

export interface Choice {
  first: number; // positions in the list of steps
  last: number;
}

/**
 * All steps of the trace; what the diagnosis says of them where it is there already. Those before the first that it is
 * about warm up.
 */
export function stepsOf(marks: readonly StepMark[], diagnosed: Analyze["steps"] | undefined): Step[] {
  const known = new Map((diagnosed ?? []).map((step) => [step.index, step]));
  const first = diagnosed?.[0]?.index ?? -Infinity;
  return marks.map((mark) => {
    const step = known.get(mark.index);
    const state = step === undefined ? (mark.index < first ? "warming up" : "counted") : step.is_cut ? "cut" : step.is_outlier ? "outlier" : step.is_counted ? "counted" : "left out";
    return { index: mark.index, host_ns: step?.duration_ns ?? mark.duration_ns, device_ns: step?.device_busy_ns ?? 0, state };
  });
}

/** As the headline counts it: a GPU that has more to do than the host sets the pace. */
export function lengthOf({ host_ns, device_ns }: Step): number {
  return Math.max(host_ns, device_ns);
}

/** What to know of steps whose time on the host is shorter than the step of the headline; else empty. */
export function pacedByDevice(steps: readonly Step[], device: string): string {
  const counted = steps.filter(({ state }) => state === "counted");
  const isPaced = counted.length > 0 && counted.every(({ host_ns, device_ns }) => device_ns > host_ns);
  return isPaced ? `The ${device} sets the pace: it works longer on a step than the host takes to launch it.` : "";
}

const REASONS: Record<Step["state"], string> = {
  counted: "",
  outlier: "Left out: unlike the others, as steps that warm up are.",
  "warming up": "Left out: it warms up.",
  cut: "Left out: the recording does not hold all of its work.",
  "left out": "Left out: a pause or an unusual step parts it from the longest run.",
};

export function stepText(step: Step, device: string): string {
  const [length = "", reason = ""] = stepLines(step, device);
  return `Step ${step.index}, ${length}. ${reason}`.trim();
}

/** How long it takes and, where it does not count, why. */
export function stepLines({ host_ns, device_ns, state }: Step, device: string): string[] {
  const length = device_ns > host_ns ? `${formatTime(device_ns)} of work on the ${device}, ${formatTime(host_ns)} on the host` : formatTime(host_ns);
  return REASONS[state] === "" ? [length] : [length, REASONS[state]];
}

/** What `steps` in the hash says of a choice: "5" or "3..7". */
export function choiceText(steps: readonly Step[], choice: Choice): string {
  const [low, high] = [Math.min(choice.first, choice.last), Math.max(choice.first, choice.last)];
  const [first, last] = [steps[low]?.index, steps[high]?.index];
  if (first === undefined || last === undefined) return "";
  return first === last ? String(first) : `${first}..${last}`;
}

/** Is a step among those that a choice such as "5", "3..7", "3.." or "..7" names? */
export function isChosen(index: number, choice: string): boolean {
  const [, low = "", dots = "", high = ""] = /^(\d*)(\.\.)?(\d*)$/.exec(choice.trim()) ?? [];
  if (dots === "") return low !== "" && index === Number(low);
  return (low === "" || index >= Number(low)) && (high === "" || index <= Number(high));
}

const MOST_ABOVE = 2;

/**
 * What fills the height of the strip: the longest step, but no more than twice the longest that counts. A first step of
 * seconds would leave nothing to see of the others.
 */
export function fullHeight(steps: readonly Step[]): number {
  const longest = (of: readonly Step[]): number => of.reduce((most, step) => Math.max(most, lengthOf(step)), 0);
  const counted = longest(steps.filter((step) => step.state === "counted"));
  return Math.max(1, counted > 0 ? Math.min(longest(steps), MOST_ABOVE * counted) : longest(steps));
}

/** Which step stands at a share of the bars' width, from 0 to 1; outside of them, the nearest. */
export function stepAt(share: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor(share * count)));
}
