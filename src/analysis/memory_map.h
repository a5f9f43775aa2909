// Memory over the whole trace, by device, and what lives at any time: which operators, modules, lines and purposes the
// bytes belong to.
//
// Pure and thread-safe; linear in memory events, but for the lines of what lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/memory_levels.h"
#include "analysis/phases.h"
#include "trace/trace.h"

namespace telltale {

struct DeviceMemory {
  DeviceId device = kHost;
  std::vector<MemoryPoint> levels;  // after each of its events; never empty
  std::int64_t allocated_before = 0;
  MemoryPoint peak;                // of what is allocated; the first, where there are several
  std::int64_t peak_reserved = 0;  // 0: see MemoryPoint::reserved
};

// Those with memory events, by id; the host, kHost, comes last.
std::vector<DeviceMemory> memory_by_device(const Trace& trace);

// The curve with at most so many points, four at least: of each of equally long stretches the first, the lowest, the
// highest and the last.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& levels, std::size_t most);

// The module around an event or, of what runs backward, around its forward operator; empty when there is none.
std::string_view module_around(const Trace& trace, EventId event);

struct MemoryRow {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t allocations = 0;
  EventId example = kNoEvent;  // where the largest was made
};

// What lives at a time.
struct LiveMemory {
  std::int64_t bytes = 0;         // of blocks whose allocation is in the trace
  std::int64_t before_bytes = 0;  // of those that were allocated before it
  // By falling bytes; of each the rows add up to `bytes`, but kinds also have what was allocated before the trace.
  std::vector<MemoryRow> by_operator, by_module, by_line, by_kind;
};

// `phases` are by event. Kinds are what the trace shows: memory that the forward pass makes and the backward pass frees
// was kept for it; what the backward pass makes and the optimizer finds are gradients; what the optimizer makes and
// outlives its step is its state. All else is named after the phase that made it.
LiveMemory live_memory(const Trace& trace, const DeviceMemory& device, Nanoseconds at,
                       const std::vector<Phase>& phases);

}  // namespace telltale
