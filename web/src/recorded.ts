/** What a trace has, and how to record what it lacks. Without DOM. */
import type { TraceShape } from "./protocol";

/** Does anything run on a device? Then it idles at times, too. */
export function hasDeviceWork({ tracks }: Pick<TraceShape, "tracks">): boolean {
  return tracks.some(({ kind }) => kind === "gaps");
}

/** What PyTorch's allocator remembers: allocations with stacks, and no time that anything takes. */
export function isMemorySnapshot({ format }: Pick<TraceShape, "format">): boolean {
  return format === "memory_snapshot";
}

/** Views that have nothing to show. */
export function emptyViews(shape: TraceShape): ReadonlySet<string> {
  const { has_memory, has_modules, has_stacks } = shape;
  return new Set([
    ...(has_memory ? [] : ["memory"]),
    ...(has_modules ? [] : ["modules"]),
    ...(has_stacks ? [] : ["lines", "source"]),
    ...(hasDeviceWork(shape) ? [] : ["kernels", "roofline"]),
    ...(isMemorySnapshot(shape) ? ["operators", "lines", "source"] : []),
  ]);
}

/** What to do for more, by who recorded. */
export interface RecordingAdvice {
  torch: string; // PyTorch's profiler
  ours: string; // telltale record, or a program with our library
}

export function adviceFor({ format }: Pick<TraceShape, "format">, { torch, ours }: RecordingAdvice): string {
  if (format === "kineto") return torch;
  if (format === "tell") return ours;
  if (isMemorySnapshot({ format })) return "A memory snapshot holds what was allocated and by which stack, and no times; PyTorch's profiler and telltale record write those.";
  return "What recorded this file does not write that; PyTorch's profiler and telltale record do.";
}
