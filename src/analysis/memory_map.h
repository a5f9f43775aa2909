// Memory over the whole trace, by device: how much at which time, and at most.
//
// Pure and thread-safe; linear in memory events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/memory_levels.h"
#include "trace/trace.h"

namespace telltale {

struct DeviceMemory {
  DeviceId device = kHost;
  std::vector<MemoryPoint> levels;  // after each of its events; what the allocator holds where it has none; never empty
  std::int64_t allocated_before = 0;
  MemoryPoint peak;                // of what is allocated; the first, where there are several
  std::int64_t peak_reserved = 0;  // 0: see MemoryPoint::reserved
};

// Those with memory events or, as in snapshots without a log, segments of the allocator, by id; the host, kHost, comes
// last.
std::vector<DeviceMemory> memory_by_device(const Trace& trace);

// The curve with at most so many points, four at least: of each of equally long stretches the first, the lowest, the
// highest and the last.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& levels, std::size_t most);

// The module around an event or, of what runs backward, around its forward operator; empty when there is none.
std::string_view module_around(const Trace& trace, EventId event);

}  // namespace telltale
