/** Paints a flame graph: callers on top, what they call below them. Only what is on the screen. */
import type { Pen } from "../pen";
import type { Look } from "../timeline/look";
import { styleOf } from "../timeline/look";
import type { TextFit } from "../timeline/text_fit";
import { type FlameTree, type FlameWindow, type Found, firstEndingAfter, nameOf, valueOf } from "./flame_tree";

export const ROW_HEIGHT = 20; // CSS pixels
const FONT = 12;
const NARROWEST_LABEL = 26;

export interface FlameFrame {
  context: Pen;
  width: number; // CSS pixels, likewise below
  height: number;
  scroll: number;
  ratio: number;
  look: Look;
  fit: TextFit; // measures FONT in CSS pixels
  tree: FlameTree;
  window: FlameWindow;
  found: Found | null;
  hovered: number | null;
  chosen: number | null;
}

export function flameFont(look: Look): string {
  return `${FONT}px ${look.font}`;
}

export function paintFlame(frame: FlameFrame): void {
  const { context, ratio, look, tree, window } = frame;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = look.ground;
  context.fillRect(0, 0, frame.width, frame.height);
  context.font = flameFont(look);
  context.textBaseline = "middle";
  context.textAlign = "left";
  const first = Math.max(0, Math.floor(frame.scroll / ROW_HEIGHT));
  const last = Math.min(tree.levels.length - 1, Math.floor((frame.scroll + frame.height) / ROW_HEIGHT));
  for (let depth = first; depth <= last; ++depth) {
    const y = depth * ROW_HEIGHT - frame.scroll;
    const caller = window.path[depth];
    if (caller !== undefined) paintNode(frame, caller, 0, frame.width, y, depth < window.path.length - 1);
    else paintLevel(frame, depth, y);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
}

function paintLevel(frame: FlameFrame, depth: number, y: number): void {
  const { tree, window, width } = frame;
  const level = tree.levels[depth];
  if (!level) return;
  const end = window.start + window.width;
  const scale = width / window.width;
  const pixel = 1 / frame.ratio;
  let painted = -1;
  for (let i = firstEndingAfter(tree, level, window.start); i < level.length; ++i) {
    const node = level[i] ?? 0;
    const start = tree.flame.start[node] ?? 0;
    if (start >= end) break;
    const left = (start - window.start) * scale;
    const right = left + valueOf(tree, node) * scale;
    if (right - painted < pixel * 0.5) continue; // less than what can be seen
    paintNode(frame, node, left, Math.max(pixel, right - left), y, false);
    painted = right;
  }
}

function paintNode(frame: FlameFrame, node: number, x: number, width: number, y: number, isCaller: boolean): void {
  const { context, ratio, look, tree, found, fit } = frame;
  const isLeftOut = found !== null && (found.marks[node] ?? 0) === 0;
  const style = styleOf(tree.flame.color[node] ?? 0, isCaller ? 0.6 : 1, isLeftOut);
  const left = Math.round(x * ratio) / ratio;
  const right = Math.round((x + width) * ratio) / ratio;
  const gap = right - left > 3 ? 1 / ratio : 0;
  context.fillStyle = look.fills[style] ?? look.soft;
  context.fillRect(left, y, Math.max(1 / ratio, right - left - gap), ROW_HEIGHT - 1);
  if (node === frame.chosen || node === frame.hovered) {
    context.strokeStyle = look.ink;
    context.lineWidth = node === frame.chosen ? 2 : 1;
    context.strokeRect(left + 1, y + 1, Math.max(1, right - left - gap - 2), ROW_HEIGHT - 3);
  }
  if (right - left < NARROWEST_LABEL) return;
  const text = fit.fitName(nameOf(tree, node), right - left - 10);
  if (text === "") return;
  context.fillStyle = look.inks[style] ?? look.ink;
  context.fillText(text, left + 5, y + ROW_HEIGHT / 2);
}
