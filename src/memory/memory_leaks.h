// What grows from step to step, and the line that makes it.
//
// Of every line, what it made in earlier steps and is still there is counted at the end of each step, in bytes and in
// blocks. A leak is what rises in both over all steps, and over the second half of them as well: what warms up, a cache
// that is full after a while, and a buffer of the newest batches rise at first only, and what the next step replaces
// has as many blocks at all times, even where batches grow. Once or twice is no growth from step to step: it must rise
// three times, and twice in the second half. The rate is the median of the slopes between any two steps
// (Theil and Sen), which single odd steps do not bend. Where a trace has no steps, the calls of its outermost module
// stand for them.
//
// Pure and thread-safe; linear in blocks and, for each line that leaves something, in steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/source_line.h"
#include "analysis/step_timing.h"
#include "memory/memory_uses.h"

namespace telltale {

// Fewer steps say nothing about growth.
inline constexpr std::size_t kLeastStepsOfLeak = 4;
// The least that PyTorch's allocator for devices hands out: what leaks a tensor per step leaks as much.
inline constexpr double kLeastLeakPerStep = 512;

// A process whose resident size grows.
struct GrowingResident {
  std::string child;              // "process 1234"; empty: the recorded process itself
  bool is_loader_worker = false;  // a child that is a worker of a data loader
};

struct MemoryLeak {
  DeviceId device = kHost;
  std::optional<SourceLine> source;
  std::string made_by;                     // the operator that made most of it; may be empty
  std::optional<GrowingResident> process;  // where only a process's size is known
  double bytes_per_step = 0;
  bool is_per_call = false;  // of the model: there are no steps
  std::int64_t bytes = 0;    // that it has come to
  MemoryUse use = MemoryUse::kOther;
  EventId example = kNoEvent;  // that made the newest of what that operator made
  // From one of its tensors to the variable that keeps it alive, a few words each; empty: not found, nothing: nobody
  // looked.
  std::optional<std::vector<std::string>> kept_by;
  std::optional<double> steps_to_full;  // at this rate, where the size of the memory is known
};

// When steps end or, where a trace has none, calls of the model.
std::vector<Nanoseconds> step_ends_for_leaks(const Trace& trace, const StepTiming& timing);

// By falling rate; `used` is what is in use at most.
std::vector<MemoryLeak> memory_leaks(const Trace& trace, DeviceId device, std::span<const UsedBlock> blocks,
                                     const StepTiming& timing, std::int64_t used);

// Of processes whose resident size was recorded, as those of a loader's workers. One that grows less than half as fast
// in the second half of the steps warms up. What the host's tensors explain of the recorded process's growth, those
// that leak so much per step, is not told twice.
std::vector<MemoryLeak> resident_leaks(const Trace& trace, const StepTiming& timing, double tensors_per_step = 0);

}  // namespace telltale
