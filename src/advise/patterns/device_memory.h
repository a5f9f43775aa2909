// What steps do with the device's memory: how much there is, and calls that fetch it from the driver or give it back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// How much memory a device has, or the host for the process, in bytes; nothing where the trace does not say.
std::optional<std::int64_t> memory_of(const Trace& trace, DeviceId device);

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

}  // namespace telltale
