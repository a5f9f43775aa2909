// Calls that fetch device memory from the driver or give it back. A program in its stride makes none: torch keeps what
// it has freed.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

struct AllocatorCalls {
  std::vector<EventId> allocations, frees;  // within the steps; of calls that make each other, the outermost
  // In the last step and in more than half of all: what only the first steps do is warming up.
  bool allocations_recur = false, frees_recur = false;
};

AllocatorCalls allocator_calls(const Facts& facts);

// What a step would take less if it got along with the memory it has.
Nanoseconds saved_without(const Facts& facts, const AllocatorCalls& calls);

}  // namespace telltale
