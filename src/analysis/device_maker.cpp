#include "analysis/device_maker.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace telltale {
namespace {

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.contains(part); });
}

constexpr auto kGpusOfOthers = std::to_array<std::string_view>({"Intel", "XPU", "GPU"});

DeviceMaker maker_by_name(std::string_view name) {
  constexpr auto kNvidia = std::to_array<std::string_view>({"NVIDIA", "Tesla", "GeForce", "Quadro", "RTX", "GTX"});
  constexpr auto kAmd = std::to_array<std::string_view>({"AMD", "Radeon", "Instinct"});
  constexpr auto kOther = std::to_array<std::string_view>({"Intel", "MTIA", "NPU", "XPU", "HPU", "TPU"});
  if (contains_any(name, kNvidia)) return DeviceMaker::kNvidia;
  if (contains_any(name, kAmd)) return DeviceMaker::kAmd;
  return contains_any(name, kOther) ? DeviceMaker::kOther : DeviceMaker::kUnknown;
}

}  // namespace

DeviceMaker maker_of_devices(const Trace& trace) {
  if (trace.metadata_named("hip_runtime_version") != nullptr) return DeviceMaker::kAmd;
  if (trace.metadata_named("cuda_runtime_version") != nullptr) return DeviceMaker::kNvidia;
  for (const Device& device : trace.devices)
    if (const DeviceMaker maker = maker_by_name(device.name); maker != DeviceMaker::kUnknown) return maker;
  return DeviceMaker::kUnknown;
}

std::string_view device_word(const Trace& trace) {
  const auto is_gpu = [](const Device& device) { return contains_any(device.name, kGpusOfOthers); };
  const bool is_another = maker_of_devices(trace) == DeviceMaker::kOther;
  return is_another && std::ranges::none_of(trace.devices, is_gpu) ? "device" : "GPU";
}

}  // namespace telltale
