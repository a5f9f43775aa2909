/** A flame graph as a tree that can be zoomed, searched and pointed at. Pure. */
import type { Flame } from "../protocol";

/** A node is a number: its place in the columns of `flame`. */
export interface FlameTree {
  flame: Flame;
  depth: Uint16Array;
  levels: readonly Uint32Array[]; // nodes by depth, from left to right
}

/** The part that fills the width: a node, or everything. */
export interface FlameWindow {
  start: number;
  width: number;
  path: readonly number[]; // from the outermost node to the one that is zoomed to
}

export function flameTree(flame: Flame): FlameTree {
  const count = flame.value.length;
  const depth = new Uint16Array(count);
  const levels: number[][] = [];
  for (let node = 0; node < count; ++node) {
    const parent = flame.parent[node] ?? -1;
    const own = parent >= 0 && parent < node ? (depth[parent] ?? 0) + 1 : 0;
    depth[node] = own;
    const level = levels[own];
    if (level) level.push(node);
    else levels[own] = [node];
  }
  const start = (node: number): number => flame.start[node] ?? 0;
  return { flame, depth, levels: levels.map((level) => Uint32Array.from(level.sort((left, right) => start(left) - start(right)))) };
}

export function nameOf(tree: FlameTree, node: number): string {
  return tree.flame.names[tree.flame.name[node] ?? -1] ?? "";
}

export function valueOf(tree: FlameTree, node: number): number {
  return tree.flame.value[node] ?? 0;
}

export function parentOf(tree: FlameTree, node: number): number | null {
  const parent = tree.flame.parent[node] ?? -1;
  return parent >= 0 ? parent : null;
}

/** From the outermost node to this one. */
export function pathTo(tree: FlameTree, node: number): number[] {
  const path: number[] = [];
  for (let each: number | null = node; each !== null && path.length <= tree.levels.length; each = parentOf(tree, each)) path.push(each);
  return path.reverse();
}

/** Everything, or one node and what it holds. */
export function windowOf(tree: FlameTree, node: number | null): FlameWindow {
  if (node === null || !(valueOf(tree, node) > 0)) return { start: 0, width: Math.max(tree.flame.total, Number.MIN_VALUE), path: [] };
  return { start: tree.flame.start[node] ?? 0, width: valueOf(tree, node), path: pathTo(tree, node) };
}

/** The first node of a level that ends behind a place; the level's length where none does. */
export function firstEndingAfter(tree: FlameTree, level: Uint32Array, at: number): number {
  let from = 0;
  let to = level.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const node = level[middle] ?? 0;
    if ((tree.flame.start[node] ?? 0) + valueOf(tree, node) <= at) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The node at a place of a level. Above the one that is zoomed to, its callers fill the width. */
export function nodeAt(tree: FlameTree, window: FlameWindow, depth: number, share: number): number | null {
  const caller = window.path[depth];
  if (caller !== undefined) return caller;
  const level = tree.levels[depth];
  if (!level) return null;
  const at = window.start + share * window.width;
  const node = level[firstEndingAfter(tree, level, at)];
  return node !== undefined && (tree.flame.start[node] ?? 0) <= at ? node : null;
}

export interface Found {
  marks: Uint8Array; // 1 for nodes whose name holds the text
  nodes: number;
  value: number; // of these, each part counted once
}

/** Nodes by name, without regard to case; null for no text. */
export function search(tree: FlameTree, text: string): Found | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const names = tree.flame.names.map((name) => name.toLowerCase().includes(wanted));
  const count = tree.flame.value.length;
  const found: Found = { marks: new Uint8Array(count), nodes: 0, value: 0 };
  const isInside = new Uint8Array(count); // below a match
  for (let node = 0; node < count; ++node) {
    const parent = parentOf(tree, node);
    if (parent !== null && ((found.marks[parent] ?? 0) === 1 || (isInside[parent] ?? 0) === 1)) isInside[node] = 1;
    if (names[tree.flame.name[node] ?? -1] !== true) continue;
    found.marks[node] = 1;
    ++found.nodes;
    if (isInside[node] === 0) found.value += valueOf(tree, node);
  }
  return found;
}

/** From a node to its caller, its largest call, or its neighbor of the same caller. */
export function neighborOf(tree: FlameTree, node: number, towards: "parent" | "child" | "next" | "previous"): number | null {
  if (towards === "parent") return parentOf(tree, node);
  const { flame, depth } = tree;
  const own = depth[node] ?? 0;
  if (towards === "child") {
    let largest: number | null = null;
    for (const each of tree.levels[own + 1] ?? []) {
      if (flame.parent[each] === node && (largest === null || valueOf(tree, each) > valueOf(tree, largest))) largest = each;
    }
    return largest;
  }
  const level = tree.levels[own] ?? new Uint32Array();
  const other = level[level.indexOf(node) + (towards === "next" ? 1 : -1)];
  return other !== undefined && flame.parent[other] === flame.parent[node] ? other : null;
}
