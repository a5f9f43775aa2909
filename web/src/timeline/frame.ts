/** One frame of a canvas: everything that painting needs to know. Coordinates of painting are device pixels. */
import type { Pen } from "../pen";
import type { Nanoseconds } from "../protocol";
import type { Look } from "./look";
import type { Stage } from "./stage";
import type { TextFit } from "./text_fit";

export interface Frame {
  context: Pen;
  pixels: CanvasRenderingContext2D | null; // the same, where pixels can be put; null: a file of vectors
  ratio: number; // device pixels of a CSS pixel
  stage: Stage;
  look: Look;
  fit: TextFit; // measures the small font in device pixels
}

export const SMALL_FONT = 11; // CSS pixels

export function setFont(frame: Frame, weight = 400): void {
  frame.context.font = `${weight} ${String(SMALL_FONT * frame.ratio)}px ${frame.look.font}`;
}

export function deviceX(frame: Frame, time: Nanoseconds): number {
  const { view, width } = frame.stage;
  return ((time - view.start) / (view.end - view.start)) * width * frame.ratio;
}

/** Paints inside a rectangle of CSS pixels only. */
export function clipped(frame: Frame, x: number, y: number, width: number, height: number, paint: () => void): void {
  const { context, ratio } = frame;
  context.save();
  context.beginPath();
  context.rect(x * ratio, y * ratio, width * ratio, height * ratio);
  context.clip();
  paint();
  context.restore();
}

/** A filled rectangle with its corners rounded, in device pixels. */
export function pill(context: Pen, x: number, y: number, width: number, height: number, radius: number): void {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  context.fill();
}
