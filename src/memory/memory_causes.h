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
  std::vector<UsedBlock> at_peak;  // what lives then, by falling size
  // When most is reserved; nothing where the allocator's log was not recorded.
  std::optional<Fragmentation> fragmentation;
};

struct MemoryCauses {
  std::vector<DeviceCauses> devices;  // those with memory events, by id; the host comes last
  std::vector<MemoryLeak> leaks;      // by device, by falling rate
};

// `phases` are by event.
MemoryCauses memory_causes(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases);

}  // namespace telltale
