/** What a trace has, and how to record what it lacks. Without DOM. */
import type { TraceShape } from "./protocol";

/** Views that have nothing to show. */
export function emptyViews({ tracks, has_memory, has_modules, has_stacks }: TraceShape): ReadonlySet<string> {
  const hasDeviceWork = tracks.some(({ kind }) => kind === "stream");
  return new Set([
    ...(has_memory ? [] : ["memory"]),
    ...(has_modules ? [] : ["modules"]),
    ...(has_stacks ? [] : ["lines", "source"]),
    ...(hasDeviceWork ? [] : ["kernels", "roofline"]),
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
  return "What recorded this file does not write that; PyTorch's profiler and telltale record do.";
}
