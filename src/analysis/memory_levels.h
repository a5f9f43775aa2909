// How much memory a device has in use after each of the allocator's events.
//
// Where the events lack totals, the sizes are added up, and what was allocated before the trace counts only as far as
// its frees show. Pure and thread-safe; linear in memory events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct MemoryPoint {
  Nanoseconds time = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;  // 0 throughout: not recorded, or an allocator that keeps nothing, as the host's
};

struct MemoryLevels {
  std::vector<MemoryPoint> points;  // after each event
  std::int64_t allocated_before = 0, reserved_before = 0;
};

// The rows of Trace::memory, by device.
std::map<DeviceId, std::vector<std::size_t>> memory_rows(const Trace& trace);

// From the rows of one device.
MemoryLevels memory_levels(const Trace& trace, const std::vector<std::size_t>& rows);

}  // namespace telltale
