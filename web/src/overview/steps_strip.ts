/**
 * The steps as a strip of bars, as high as they are long. A click chooses a step, a drag several; with the keyboard the
 * arrows move, Shift extends and Enter chooses.
 */
import { themeColor } from "../colors";
import { element } from "../element";
import { onTheme } from "../theme";
import { type Choice, type Step, choiceText, fullHeight, isChosen, lengthOf, pacedByDevice, stepAt, stepText } from "./steps";

const HEIGHT = 52;
const WIDEST_BAR = 32;
const CUT_AT = 7; // pixels from the top: a gap in bars that are longer than the strip is high
const LEAST_BAR_SHARE = 0.06; // of the height, so that the shortest step can be seen

export interface StepsStrip {
  readonly node: HTMLElement;
  setSteps(steps: readonly Step[], device: string): void; // what sentences call it
  setChosen(choice: string): void;
  hasFocus(): boolean;
  focus(): void;
  close(): void;
}

export function stepsStrip(choose: (steps: string) => void): StepsStrip {
  const canvas = element("canvas", { class: "strip", tabindex: 0, role: "application", "aria-label": "Steps. Arrows move, Shift extends, Enter chooses." });
  const note = element("p", { class: "caption", "aria-live": "polite" });
  const node = element("div", { class: "steps-strip" }, canvas, note);
  let steps: readonly Step[] = [];
  let device = "";
  let chosen = "";
  let marked: Choice | undefined; // under the pointer or the keyboard
  let left: Choice | undefined; // what was marked when the keyboard went elsewhere: it goes on from there
  let isDragging = false;

  const draw = (): void => {
    drawStrip(canvas, steps, chosen, marked);
  };
  const describe = (): void => {
    const step = marked === undefined ? undefined : steps[marked.last];
    const isOne = marked?.first === marked?.last;
    if (marked === undefined || step === undefined) note.textContent = `Click or drag to look at some of the steps only. ${pacedByDevice(steps, device)}`.trim();
    else note.textContent = isOne ? stepText(step, device) : `Steps ${choiceText(steps, marked).replace("..", " to ")}`;
  };
  const mark = (next: Choice | undefined): void => {
    marked = next;
    describe();
    draw();
  };
  const shareAt = (event: PointerEvent): number => {
    const { left, width } = canvas.getBoundingClientRect();
    return (event.clientX - left) / (pitchOf(width, steps.length) * steps.length);
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (shareAt(event) > 1) return;
    canvas.setPointerCapture(event.pointerId);
    isDragging = true;
    const at = stepAt(shareAt(event), steps.length);
    mark({ first: at, last: at });
  });
  canvas.addEventListener("pointermove", (event) => {
    const share = shareAt(event);
    const at = stepAt(share, steps.length);
    if (isDragging && marked !== undefined) mark({ first: marked.first, last: at });
    else mark(share > 1 ? undefined : { first: at, last: at });
  });
  canvas.addEventListener("pointerup", () => {
    if (isDragging && marked !== undefined) choose(choiceText(steps, marked));
    isDragging = false;
  });
  canvas.addEventListener("pointerleave", () => {
    if (!isDragging) mark(undefined);
  });
  canvas.addEventListener("blur", () => {
    left = marked ?? left;
    mark(undefined);
  });
  canvas.addEventListener("keydown", (event) => {
    const towards = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Enter" && marked !== undefined) choose(choiceText(steps, marked));
    else if (towards === 0) return;
    else {
      const from = marked ?? left;
      const last = from === undefined ? 0 : Math.max(0, Math.min(steps.length - 1, from.last + towards));
      mark({ first: event.shiftKey && from !== undefined ? from.first : last, last });
    }
    event.preventDefault();
    event.stopPropagation();
  });
  const resized = new ResizeObserver(draw);
  resized.observe(canvas);
  const endTheme = onTheme(draw);
  return {
    node,
    setSteps(next, deviceWord) {
      steps = next;
      device = deviceWord;
      describe();
      draw();
    },
    setChosen(choice) {
      chosen = choice;
      draw();
    },
    hasFocus: () => document.activeElement === canvas,
    focus() {
      canvas.focus({ preventScroll: true });
    },
    close() {
      resized.disconnect();
      endTheme();
    },
  };
}

function pitchOf(width: number, count: number): number {
  return Math.min(WIDEST_BAR, width / count);
}

function drawStrip(canvas: HTMLCanvasElement, steps: readonly Step[], chosen: string, marked: Choice | undefined): void {
  const context = canvas.getContext("2d");
  const width = canvas.clientWidth;
  if (context === null || width === 0 || steps.length === 0) return;
  const scale = window.devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(HEIGHT * scale);
  context.scale(scale, scale);
  const paints = { "--mark": themeColor("--mark"), "--unusual": themeColor("--unusual"), "--soft": themeColor("--soft") };
  const full = fullHeight(steps);
  const pitch = pitchOf(width, steps.length);
  const gap = pitch > 4 ? 1 : 0;
  const [low, high] = marked === undefined ? [1, 0] : [Math.min(marked.first, marked.last), Math.max(marked.first, marked.last)];
  steps.forEach((step, at) => {
    const isCutOff = lengthOf(step) > full;
    const height = isCutOff ? HEIGHT : Math.max(lengthOf(step) / full, LEAST_BAR_SHARE) * (HEIGHT - 2);
    const isIn = chosen === "" ? step.state === "counted" : isChosen(step.index, chosen);
    const isMarked = at >= low && at <= high;
    const fill = isIn ? "--mark" : step.state === "outlier" || step.state === "cut" ? "--unusual" : "--soft";
    context.globalAlpha = isMarked || isIn ? 1 : 0.55;
    if (isMarked) {
      context.fillStyle = themeColor("--mark-ground");
      context.fillRect(at * pitch, 0, pitch, HEIGHT);
    }
    context.fillStyle = paints[fill];
    context.fillRect(at * pitch, HEIGHT - height, Math.max(pitch - gap, 0.75), height);
    if (isCutOff) context.clearRect(at * pitch, CUT_AT, pitch, 2);
  });
  context.globalAlpha = 1;
}
