/** What is under the pointer, in a few words beside it. */
import { colorStyle } from "../colors";
import { type Child, element, replace } from "../element";
import { counted, formatShare, formatTime } from "../format";
import { stepLines } from "../overview/steps";
import type { StepMark } from "../protocol";
import { counterText } from "./paint_counters";
import { flagAt, stepAt } from "./pointer";
import { timeAt } from "./stage";
import { inUnit, niceStep } from "./ticks";
import type { DrawnSpan, TimelineModel } from "./timeline_model";

const AWAY = 14; // CSS pixels from the pointer

interface Content {
  head: string;
  lines: string[];
  color: number | null; // before the first line
}

export class Tooltip {
  readonly node = element("div", { class: "tooltip", role: "tooltip", hidden: true });
  private shown = "";

  constructor(private readonly model: TimelineModel) {}

  /** `isMoving`: nothing is shown while the picture is dragged. */
  update(room: HTMLElement, isMoving: boolean): void {
    const { pointer } = this.model;
    const content = isMoving ? null : this.content();
    this.node.hidden = content === null;
    if (!pointer || !content) return;
    this.show(content);
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const x = pointer.x + AWAY + width > room.clientWidth ? pointer.x - AWAY - width : pointer.x + AWAY;
    const y = pointer.y + AWAY + height > room.clientHeight ? pointer.y - AWAY - height : pointer.y + AWAY;
    this.node.style.transform = `translate(${Math.max(0, Math.round(x))}px, ${Math.max(0, Math.round(y))}px)`;
  }

  private show({ head, lines, color }: Content): void {
    const text = [head, color, ...lines].join("\n");
    if (text === this.shown) return;
    this.shown = text;
    const key: Child = color === null ? null : element("span", { class: "key", style: colorStyle(color) });
    replace(this.node, element("b", {}, head), ...lines.map((line, i) => element("span", {}, i === 0 ? key : null, i === 0 && key ? ` ${line}` : line)));
  }

  private content(): Content | null {
    const { model } = this;
    const { pointer } = model;
    if (!pointer) return null;
    const step = stepAt(model, pointer);
    if (step) return { head: `Step ${step.index}`, lines: this.stepLines(step), color: null };
    const flag = flagAt(model, pointer);
    if (flag) return { head: `Finding ${flag.number}: ${flag.title}`, lines: [flag.place.name], color: null };
    const counter = model.counterAt(pointer);
    if (counter) {
      const at = exactTime(timeAt(model.stage, pointer.x), model);
      return { head: counterText(counter.track, counter.value), lines: [`${counter.track.name} at ${at}`], color: null };
    }
    const span = model.spanAt(pointer);
    if (!span) return null;
    if (span.track.kind === "gaps") return this.idle(span);
    const word = model.shape.colors[span.color]?.word ?? "";
    if (span.events === 1) return { head: span.name, lines: [`${word} · ${formatTime(span.duration)}`], color: span.color };
    const lines = [`over ${formatTime(span.duration)}, ${formatShare(span.busy)} busy`, `The longest: ${span.name}`];
    return { head: counted(span.events, "event"), lines, color: span.color };
  }

  private stepLines({ index, duration_ns }: StepMark): string[] {
    const step = this.model.diagnosed.find((each) => each.index === index);
    return step === undefined ? [formatTime(duration_ns)] : stepLines(step, this.model.shape.device_word);
  }

  private idle(span: DrawnSpan): Content {
    if (span.events === 1) return { head: span.name, lines: [formatTime(span.duration)], color: span.color };
    const words = span.causes.map(({ color, ns }) => `${this.model.shape.colors[color]?.word ?? ""} · ${formatTime(ns)}`);
    return { head: `${counted(span.events, "idle time")} within ${formatTime(span.duration)}`, lines: words, color: span.color };
  }
}

/** A time of the trace, to the pixel. */
export function exactTime(time: number, model: TimelineModel): string {
  const perPixel = (model.view.end - model.view.start) / model.stage.width;
  return inUnit(Math.max(0, time), Math.max(1, niceStep(perPixel)), model.view.end);
}
