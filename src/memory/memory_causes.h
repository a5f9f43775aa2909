// All that a trace says about memory: of each device its peak, its time line and what fills it, and what grows.
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "analysis/phases.h"
#include "analysis/step_timing.h"
#include "memory/fragmentation.h"
#include "memory/memory_leaks.h"
#include "memory/memory_peak.h"
#include "memory/memory_timeline.h"
#include "memory/memory_uses.h"

namespace telltale {

struct DeviceCauses {
  MemoryPeak peak;
  MemoryTimeline timeline;
  std::vector<UsedBlock> at_peak;      // what lives then, by falling size
  std::vector<Nanoseconds> step_ends;  // of the steps, or calls of the model, by which leaks were told
  bool has_history = true;             // otherwise the peak is when a snapshot without a log was taken
  // When most is reserved; nothing where the allocator's log was not recorded.
  std::optional<Fragmentation> fragmentation;
};

struct MemoryCauses {
  std::vector<DeviceCauses> devices;  // those with memory events, by id; the host comes last
  std::vector<MemoryLeak> leaks;      // by device, by falling rate
  // How many steps were told by stacks that repeat, where the trace has no others; 0: none were. See inferred_steps.h.
  std::size_t inferred_steps = 0;
};

// The device that findings are about: the one with the highest peak, the host only where there is no other; null where
// there is none at all.
const DeviceCauses* fullest(const MemoryCauses& causes);

// `phases` are by event.
MemoryCauses memory_causes(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases);

}  // namespace telltale
