/** The modules of a model as a tree of which some branches are open. Without DOM. */
import type { ModuleTime } from "../protocol";

export type Weight = "device" | "host";

/** What siblings are sorted by: a name, or an amount. */
export type ModuleOrder = "name" | "cost" | "forward" | "backward" | "self" | "calls";

export interface TreeRow {
  module: number; // its place in the list
  depth: number;
  isOpen: boolean;
  hasChildren: boolean;
}

export class ModuleTree {
  private readonly children = new Map<number | null, number[]>();

  constructor(readonly modules: readonly ModuleTime[], readonly weight: Weight, by: ModuleOrder = "cost", isRising = false) {
    modules.forEach(({ parent }, at) => {
      const siblings = this.children.get(parent);
      if (siblings === undefined) this.children.set(parent, [at]);
      else siblings.push(at);
    });
    const compare = by === "name" ? (a: number, b: number): number => this.name(a).localeCompare(this.name(b)) : (a: number, b: number): number => this.amount(a, by) - this.amount(b, by);
    for (const siblings of this.children.values()) siblings.sort((a, b) => (isRising ? compare(a, b) : compare(b, a)) || a - b);
  }

  private name(at: number): string {
    return this.modules[at]?.name ?? "";
  }

  private amount(at: number, by: Exclude<ModuleOrder, "name">): number {
    if (by === "self") return this.modules[at]?.self_device_ns ?? 0;
    if (by === "calls") return this.modules[at]?.calls ?? 0;
    return by === "cost" ? this.cost(at) : this.times(at)[by];
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

  /** Modules whose name has the text, whatever its case, or whose path ends in it, and all around them. */
  matching(text: string): { found: number; visible: Set<number> } {
    const wanted = text.toLowerCase();
    const visible = new Set<number>();
    let found = 0;
    this.modules.forEach(({ name, path }, at) => {
      if (!name.toLowerCase().includes(wanted) && !path.toLowerCase().endsWith(wanted)) return;
      ++found;
      for (let around: number | null = at; around !== null && !visible.has(around); around = this.modules[around]?.parent ?? null) visible.add(around);
    });
    return { found, visible };
  }

  /** The rows to see, of all modules or some, without recursion: models nest as deep as they like. */
  rows(open: ReadonlySet<number>, visible?: ReadonlySet<number>): TreeRow[] {
    const rows: TreeRow[] = [];
    const seen = (modules: readonly number[]): readonly number[] => (visible === undefined ? modules : modules.filter((module) => visible.has(module)));
    const left = seen(this.childrenOf(null)).map((module) => ({ module, depth: 0 })).reverse();
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { module, depth } = next;
      const children = seen(this.childrenOf(module));
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
