#include "analysis/sort_key.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

namespace telltale {
namespace {

struct NamedKey {
  std::string_view name;
  SortKey key;
};

constexpr std::array kOurNames = {
    NamedKey{"self-cpu", SortKey::kSelfCpu},
    NamedKey{"cpu", SortKey::kCpu},
    NamedKey{"cpu-once", SortKey::kCpuOnce},
    NamedKey{"self-device", SortKey::kSelfDevice},
    NamedKey{"device", SortKey::kDevice},
    NamedKey{"calls", SortKey::kCalls},
    NamedKey{"cpu-memory", SortKey::kCpuMemory},
    NamedKey{"self-cpu-memory", SortKey::kSelfCpuMemory},
    NamedKey{"device-memory", SortKey::kDeviceMemory},
    NamedKey{"self-device-memory", SortKey::kSelfDeviceMemory},
    NamedKey{"flops", SortKey::kFlops},
    NamedKey{"cpu-avg", SortKey::kCpuAverage},
    NamedKey{"device-avg", SortKey::kDeviceAverage},
    NamedKey{"name", SortKey::kName},
};

// With "device" for whatever device torch names. Its cpu_time and device_time are averages.
constexpr std::array kTorchNames = {
    NamedKey{"self_cpu_time_total", SortKey::kSelfCpu},
    NamedKey{"cpu_time_total", SortKey::kCpu},
    NamedKey{"cpu_time", SortKey::kCpuAverage},
    NamedKey{"self_device_time_total", SortKey::kSelfDevice},
    NamedKey{"device_time_total", SortKey::kDevice},
    NamedKey{"device_time", SortKey::kDeviceAverage},
    NamedKey{"cpu_memory_usage", SortKey::kCpuMemory},
    NamedKey{"self_cpu_memory_usage", SortKey::kSelfCpuMemory},
    NamedKey{"device_memory_usage", SortKey::kDeviceMemory},
    NamedKey{"self_device_memory_usage", SortKey::kSelfDeviceMemory},
    NamedKey{"count", SortKey::kCalls},
};

// self_cuda_time_total is self_device_time_total.
std::string with_device_unnamed(std::string_view torch_name) {
  std::string name(torch_name);
  for (const std::string_view device : {"cuda", "xpu", "hpu", "mtia", "privateuse1"}) {
    const std::size_t at = name.find(device);
    if (at != std::string::npos) return name.replace(at, device.size(), "device");
  }
  return name;
}

std::optional<std::int64_t> value_of(const KeyAverage& row, SortKey key) {
  switch (key) {
    case SortKey::kSelfCpu:
      return row.self_cpu_ns;
    case SortKey::kCpu:
      return row.cpu_ns;
    case SortKey::kCpuOnce:
      return row.cpu_once_ns;
    case SortKey::kSelfDevice:
      return row.self_device_ns;
    case SortKey::kDevice:
      return row.device_ns;
    case SortKey::kCalls:
      return row.calls;
    case SortKey::kCpuMemory:
      return row.cpu_memory_bytes;
    case SortKey::kSelfCpuMemory:
      return row.self_cpu_memory_bytes;
    case SortKey::kDeviceMemory:
      return row.device_memory_bytes;
    case SortKey::kSelfDeviceMemory:
      return row.self_device_memory_bytes;
    case SortKey::kFlops:
      return row.flops;
    case SortKey::kCpuAverage:
      return row.cpu_average_ns();
    case SortKey::kDeviceAverage:
      return row.device_average_ns();
    case SortKey::kName:
      break;
  }
  return std::nullopt;
}

bool comes_first_by_name(const KeyAverage& a, const KeyAverage& b) {
  return std::tie(a.name, a.kind, a.input_shapes, a.stack) < std::tie(b.name, b.kind, b.input_shapes, b.stack);
}

}  // namespace

std::vector<std::string_view> sort_key_names() {
  std::vector<std::string_view> names;
  for (const NamedKey& named : kOurNames) names.push_back(named.name);
  return names;
}

std::optional<SortKey> sort_key_named(std::string_view name) {
  const auto ours = std::ranges::find(kOurNames, name, &NamedKey::name);
  if (ours != kOurNames.end()) return ours->key;
  const auto torchs = std::ranges::find(kTorchNames, with_device_unnamed(name), &NamedKey::name);
  if (torchs != kTorchNames.end()) return torchs->key;
  return std::nullopt;
}

void sort_rows(std::vector<KeyAverage>& rows, SortKey key) {
  std::ranges::sort(rows, [key](const KeyAverage& a, const KeyAverage& b) {
    const auto value_a = value_of(a, key), value_b = value_of(b, key);  // an absent one is less than any other
    if (value_a != value_b) return value_a > value_b;
    return comes_first_by_name(a, b);
  });
}

SortKey default_sort_key(const KeyAverages& averages) {
  const bool has_device_time =
      std::ranges::any_of(averages.rows, [](const KeyAverage& row) { return row.self_device_ns.value_or(0) != 0; });
  return has_device_time ? SortKey::kSelfDevice : SortKey::kSelfCpu;
}

}  // namespace telltale
