/** Where the parts of segments lie in their picture, and what is under the pointer. Without DOM. */
import type { Segment } from "../protocol";

const MOST_NAMED = 60;

export interface PartPlace {
  segment: number;
  part: number;
}

/** Rows are lower where there are many; the lowest have no room for words beside them. */
export function rowHeight(segments: number): number {
  return segments <= 8 ? 30 : segments <= MOST_NAMED ? 16 : 9;
}
export function edgesOf(segments: number): { left: number; right: number } {
  return segments <= MOST_NAMED ? { left: 150, right: 100 } : { left: 0, right: 0 };
}

/** Where parts begin, in bytes from the start of their segment. */
export function offsetsOf({ part_bytes }: Segment): number[] {
  let sum = 0;
  return part_bytes.map((bytes) => (sum += bytes) - bytes);
}

/** The part at a share of the segment's width. */
export function partAt(segment: Segment, share: number): number | null {
  if (share < 0 || share >= 1) return null;
  const at = share * segment.bytes;
  let end = 0;
  const part = segment.part_bytes.findIndex((bytes) => at < (end += bytes));
  return part < 0 ? null : part;
}

/** The next part in a direction: beside it, or of the segment above or below at the same place. */
export function neighborOf(segments: readonly Segment[], from: PartPlace, key: string): PartPlace | null {
  const segment = segments[from.segment];
  if (segment === undefined) return null;
  const beside = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (beside !== undefined) {
    const part = from.part + beside;
    return part >= 0 && part < segment.part_bytes.length ? { segment: from.segment, part } : null;
  }
  const other = from.segment + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? 0);
  const row = segments[other];
  if (other === from.segment || row === undefined) return null;
  const middle = ((offsetsOf(segment)[from.part] ?? 0) + (segment.part_bytes[from.part] ?? 0) / 2) / Math.max(1, segment.bytes);
  return { segment: other, part: partAt(row, Math.min(middle, 0.999999)) ?? 0 };
}
