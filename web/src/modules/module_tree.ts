/** The modules of a model as a tree of which some branches are open. Without DOM. */
import type { ModuleTime } from "../protocol";

export type Weight = "device" | "host";

export interface TreeRow {
  module: number; // its place in the list
  depth: number;
  isOpen: boolean;
  hasChildren: boolean;
}

export class ModuleTree {
  private readonly children = new Map<number | null, number[]>();

  constructor(readonly modules: readonly ModuleTime[], readonly weight: Weight) {
    modules.forEach(({ parent }, at) => {
      const siblings = this.children.get(parent);
      if (siblings === undefined) this.children.set(parent, [at]);
      else siblings.push(at);
    });
    for (const siblings of this.children.values()) siblings.sort((a, b) => this.cost(b) - this.cost(a) || a - b);
  }

  cost(at: number): number {
    const { forward, backward } = this.times(at);
    return forward + backward;
  }

  times(at: number): { forward: number; backward: number } {
    const module = this.modules[at];
    if (module === undefined) return { forward: 0, backward: 0 };
    return this.weight === "device"
      ? { forward: module.forward_device_ns, backward: module.backward_device_ns }
      : { forward: module.forward_cpu_ns, backward: module.backward_cpu_ns };
  }

  /** The dearest modules come first among their siblings. */
  childrenOf(at: number | null): readonly number[] {
    return this.children.get(at) ?? [];
  }

  /** What to open at first: roots, and on while a module has one child only. */
  openAtFirst(): Set<number> {
    const open = new Set(this.childrenOf(null));
    for (const at of open) {
      const children = this.childrenOf(at);
      const [only] = children;
      if (children.length === 1 && only !== undefined) open.add(only);
    }
    return open;
  }

  /** The rows to see, without recursion: models nest as deep as they like. */
  rows(open: ReadonlySet<number>): TreeRow[] {
    const rows: TreeRow[] = [];
    const left = this.childrenOf(null).map((module) => ({ module, depth: 0 })).reverse();
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { module, depth } = next;
      const children = this.childrenOf(module);
      const isOpen = open.has(module);
      rows.push({ module, depth, isOpen, hasChildren: children.length > 0 });
      if (isOpen) for (const child of [...children].reverse()) left.push({ module: child, depth: depth + 1 });
    }
    return rows;
  }

  all(): Set<number> {
    return new Set(this.modules.keys());
  }
}
