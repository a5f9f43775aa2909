// A device's memory over time: how much, for what, and whether the steps are alike.
//
// Pure and thread-safe; linear in blocks and in steps, but for sorting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory_map.h"
#include "analysis/step_timing.h"
#include "memory/memory_peak.h"
#include "memory/memory_uses.h"

namespace telltale {

struct UsesAt {
  Nanoseconds time = 0;
  std::array<std::int64_t, kMemoryUseCount> bytes{};  // by use; together what is allocated then
};

struct StepMemory {
  std::int64_t index = 0;
  Interval host;
  std::int64_t peak = 0, minimum = 0;
  bool differs = false;  // by far from the peak of most others
};

struct MemoryTimeline {
  std::vector<MemoryPoint> levels;                // thinned, peaks kept
  std::vector<UsesAt> uses;                       // at the times of the levels, as are the next two
  std::vector<std::int64_t> requested;            // what was asked for; empty: there is no log of the allocator
  std::vector<std::int64_t> device_used;          // by the device's own count; empty: it was not recorded
  std::vector<PeakTensor> tensors;                // that are among the largest at some of these times
  std::vector<std::vector<std::size_t>> largest;  // at each of them: places in `tensors`, by falling size
  std::vector<StepMemory> steps;                  // by start; none where the trace has no steps
  bool peaks_rise = false;                        // nearly each step peaks above the one before it
};

inline constexpr std::size_t kMostTimelinePoints = 600;

// What memory is used for at the times of levels, which rise. What is allocated and no block accounts for was there
// before.
std::vector<UsesAt> uses_at(std::span<const MemoryPoint> levels, std::span<const UsedBlock> blocks);

// The largest blocks that stand at each of these times, which rise: places in `blocks`, by falling size.
std::vector<std::vector<std::size_t>> largest_at(std::span<const MemoryPoint> levels, std::span<const UsedBlock> blocks,
                                                 std::size_t most);

// What the program asked for of what its allocator holds for it, blocks that await their free among them, at each of
// these times, which rise. Empty where the log of the device's allocator was not recorded.
std::vector<std::int64_t> requested_at(const Trace& trace, DeviceId device, std::span<const MemoryPoint> levels);

MemoryTimeline memory_timeline(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks,
                               const StepTiming& timing);

}  // namespace telltale
