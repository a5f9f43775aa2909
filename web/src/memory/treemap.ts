/** A treemap: rectangles as large as what they stand for, as near to squares as their room allows. Without DOM. */
import { counted } from "../format";
import type { MemoryRow } from "../protocol";
import type { Box } from "./curve";

const MOST = 150; // rectangles; what is smaller is one

/**
 * The boxes of values, in their order; values fall, and what is not above zero gets an empty box. Rows are filled along
 * the shorter side of what is left, as long as that makes them squarer (Bruls, Huizing and van Wijk).
 */
export function treemap(values: readonly number[], room: Box): Box[] {
  const sizes = values.map((value) => (Number.isFinite(value) && value > 0 ? value : 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const boxes: Box[] = sizes.map(() => ({ left: room.left, top: room.top, width: 0, height: 0 }));
  if (total === 0 || !(room.width > 0) || !(room.height > 0)) return boxes;
  const area = (room.width * room.height) / total; // of one of the values' units
  let left: Box = { ...room };
  for (let first = 0; first < sizes.length; ) {
    const side = Math.min(left.width, left.height);
    let end = first + 1;
    let sum = (sizes[first] ?? 0) * area;
    if (sum <= 0 || side <= 0) {
      ++first;
      continue;
    }
    let worst = worstRatio(sizes, first, end, sum, side, area);
    while (end < sizes.length && (sizes[end] ?? 0) > 0) {
      const next = sum + (sizes[end] ?? 0) * area;
      const ratio = worstRatio(sizes, first, end + 1, next, side, area);
      if (ratio > worst) break;
      [sum, worst] = [next, ratio];
      ++end;
    }
    left = placeRow(sizes, first, end, sum, area, left, boxes);
    first = end;
  }
  return boxes;
}

/** How far from a square the boxes of a row are, at most. */
function worstRatio(sizes: readonly number[], first: number, end: number, sum: number, side: number, area: number): number {
  const thickness = sum / side;
  let worst = 1;
  for (let i = first; i < end; ++i) {
    const length = ((sizes[i] ?? 0) * area) / thickness;
    worst = Math.max(worst, length / thickness, thickness / length);
  }
  return worst;
}

/** Fills a strip along the shorter side, and says what is left beside it. */
function placeRow(sizes: readonly number[], first: number, end: number, sum: number, area: number, room: Box, boxes: Box[]): Box {
  const isUpright = room.width >= room.height; // the strip stands at the left, else it lies at the top
  const side = isUpright ? room.height : room.width;
  const thickness = sum / side;
  let along = isUpright ? room.top : room.left;
  for (let i = first; i < end; ++i) {
    const length = ((sizes[i] ?? 0) * area) / thickness;
    boxes[i] = isUpright
      ? { left: room.left, top: along, width: thickness, height: length }
      : { left: along, top: room.top, width: length, height: thickness };
    along += length;
  }
  return isUpright
    ? { left: room.left + thickness, top: room.top, width: Math.max(0, room.width - thickness), height: room.height }
    : { left: room.left, top: room.top + thickness, width: room.width, height: Math.max(0, room.height - thickness) };
}

/** The largest as they are, and the rest together. Rows are by falling bytes. */
export function largestOf(rows: readonly MemoryRow[]): readonly MemoryRow[] {
  if (rows.length <= MOST) return rows;
  const rest = rows.slice(MOST - 1);
  const sum = (of: (row: MemoryRow) => number): number => rest.reduce((total, row) => total + of(row), 0);
  return [...rows.slice(0, MOST - 1), { name: counted(rest.length, "smaller one"), bytes: sum(({ bytes }) => bytes), blocks: sum(({ blocks }) => blocks), example: null }];
}
