// Time by nn.Module, forward and backward, on the host and on the device, as a tree.
//
// What runs backward belongs to the module whose forward operator it goes back to; what a checkpointed module computes
// again is backward. Work of a CUDA graph belongs to the module that captured it. Pure and thread-safe; linear in the
// trace's events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/phases.h"
#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

struct ModuleTime {
  static constexpr int kNoParent = -1;
  std::string name;        // "Linear_3", as the recorder names it, without "nn.Module: "
  std::string path;        // "GPT2LMHeadModel_0/Linear_3"; of many levels, "…" and the innermost
  int parent = kNoParent;  // index in the list, always smaller than the own one
  int depth = 0;
  std::int64_t calls = 0;  // in all steps
  // A step; what its children do is included.
  Nanoseconds forward_cpu_ns = 0, forward_device_ns = 0, backward_cpu_ns = 0, backward_device_ns = 0;
  // Of these, what no child does.
  Nanoseconds self_device_ns = 0;

  Nanoseconds device_ns() const { return forward_device_ns + backward_device_ns; }
};

// Parents before children; siblings by falling device time, then by falling host time. Calls of one module within the
// same parent are one entry. Empty when the trace has no module events.
std::vector<ModuleTime> module_times(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases);

}  // namespace telltale
