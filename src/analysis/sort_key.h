// In which order the rows of key averages are shown: torch.profiler's sort keys under our names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/key_averages.h"

namespace telltale {

enum class SortKey : std::uint8_t {
  kSelfCpu,
  kCpu,
  kCpuOnce,
  kSelfDevice,
  kDevice,
  kCalls,
  kCpuMemory,
  kSelfCpuMemory,
  kDeviceMemory,
  kSelfDeviceMemory,
  kFlops,
  kCpuAverage,
  kDeviceAverage,
  kName,
};

// "self-cpu", …, in the order of the enumeration.
std::vector<std::string_view> sort_key_names();

// Takes our names and torch.profiler's own, such as self_cuda_time_total.
std::optional<SortKey> sort_key_named(std::string_view name);

// Largest first, rows without the value last; by name from a to z. Ties are broken by name, kind, shapes and stack,
// so that the order does not depend on that of the trace.
void sort_rows(std::vector<KeyAverage>& rows, SortKey key);

// Device time where the trace has any, CPU time otherwise.
SortKey default_sort_key(const KeyAverages& averages);

}  // namespace telltale
