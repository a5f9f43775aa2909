// What steps do with the device's memory: how much there is, and calls that fetch it from the driver or give it back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// How much of its memory a device has in use at most: by the allocator's events or, in a recording without them, by its
// gauge, which also counts what the allocator keeps and what other processes have.
struct MemoryInUse {
  std::int64_t peak_bytes = 0, whole_bytes = 0;
};

// Of the device that memory events tell of, else of the busiest; nothing where the trace says too little.
std::optional<MemoryInUse> memory_in_use(const Facts& facts);

// Calls that fetch device memory from the driver or give it back. A program in its stride makes none: torch keeps what
// it has freed.
struct AllocatorCalls {
  std::vector<EventId> allocations, frees;  // within the steps; of calls that make each other, the outermost
  // In the last step and in more than half of all: what only the first steps do is warming up.
  bool allocations_recur = false, frees_recur = false;
};

// Recording slows cudaMalloc down: one program that made 20 calls per step, recorded with 170 µs each, gained only 35
// µs for each when it no longer made them; another gained nearly all of what was recorded. This is in between.
inline constexpr double kUnobservedShareOfAllocation = 0.5;

AllocatorCalls allocator_calls(const Facts& facts);

// What a step would take less if it got along with the memory it has.
Nanoseconds saved_without(const Facts& facts, const AllocatorCalls& calls);

// What that changes: no frees, and of the allocations only what recording has made of them.
Edit without_calls(const Facts& facts, const AllocatorCalls& calls);

}  // namespace telltale
