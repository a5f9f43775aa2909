#include "analysis/memory_levels.h"

#include <algorithm>

namespace telltale {

std::map<DeviceId, std::vector<std::size_t>> memory_rows(const Trace& trace) {
  std::map<DeviceId, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < trace.memory.size(); ++row) rows[trace.memory.device[row]].push_back(row);
  return rows;
}

MemoryLevels memory_levels(const Trace& trace, const std::vector<std::size_t>& rows) {
  const MemoryEvents& memory = trace.memory;
  MemoryLevels levels;
  bool has_totals = false;
  MemoryPoint now;
  for (const std::size_t row : rows) {
    now.time = memory.time[row];
    now.allocated += memory.bytes[row];
    if (memory.total_allocated[row] >= 0) {
      has_totals = true;
      now.allocated = memory.total_allocated[row];
    }
    if (memory.total_reserved[row] >= 0) now.reserved = memory.total_reserved[row];
    if (levels.points.empty()) {
      levels.allocated_before = now.allocated - memory.bytes[row];
      levels.reserved_before = now.reserved;
    }
    levels.points.push_back(now);
  }
  if (has_totals) return levels;
  // Added up from nothing, the sum falls below zero where memory is freed that was allocated before the trace.
  std::int64_t least = 0;
  for (const MemoryPoint& point : levels.points) least = std::min(least, point.allocated);
  levels.allocated_before -= least;
  for (MemoryPoint& point : levels.points) point.allocated -= least;
  return levels;
}

}  // namespace telltale
