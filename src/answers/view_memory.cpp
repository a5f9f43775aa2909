#include "answers/view_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <string_view>

#include "analysis/gpu_peaks.h"
#include "analysis/host_work.h"
#include "answers/view_kept.h"
#include "base/amounts.h"
#include "report/compact_json.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::int64_t kFewestPoints = 4, kMostPoints = 20'000;
constexpr std::size_t kWidestName = 160;

struct DeviceOf {
  const Trace* trace = nullptr;
  const DeviceMemory* memory = nullptr;
};

const Device* description_of(const DeviceOf& of) {
  const auto found = std::ranges::find(of.trace->devices, of.memory->device, &Device::id);
  return found == of.trace->devices.end() ? nullptr : &*found;
}

std::string name_of(const DeviceOf& of) {
  if (of.memory->device == kHost) return "host";
  const Device* const device = description_of(of);
  std::string name = device == nullptr ? std::string() : shown_name(*device);
  return name.empty() ? fmt::format("device {}", of.memory->device) : name;
}

// What an allocator reserves, where it ever reserves something.
std::optional<std::int64_t> if_reserved(std::int64_t bytes, const DeviceMemory& memory) {
  return memory.peak_reserved == 0 ? std::nullopt : std::optional(bytes);
}

}  // namespace
}  // namespace telltale::answers

namespace telltale {

template <typename Fields>
void describe(Fields& fields, const MemoryRow& row) {
  fields.object("MemoryRow", "What lives of one sort");
  fields.member("name", cut_to_width(printable(row.name), answers::kWidestName), "what it belongs to");
  fields.member("bytes", row.bytes, "that live");
  fields.member("allocations", row.allocations, "how many blocks; 0: not known");
  fields.member("example", event_or_null(row.example), "where the largest was allocated");
}

}  // namespace telltale

namespace telltale::answers {
namespace {

template <typename Fields>
void describe(Fields& fields, const DeviceOf& of) {
  const Device* const device = description_of(of);
  fields.object("MemoryDevice", "A device with memory events");
  fields.member("id", of.memory->device, "-1: the host");
  fields.member("name", name_of(of), "its model");
  fields.member("peak_allocated_bytes", of.memory->peak.allocated, "the most that tensors took");
  fields.member("peak_reserved_bytes", if_reserved(of.memory->peak_reserved, *of.memory),
                "the most that the allocator held");
  fields.member("peak_ns", of.memory->peak.time, "when tensors took most");
  fields.member("capacity_bytes", device == nullptr ? std::nullopt : device->memory_bytes, "how much it has");
}

}  // namespace

template <typename Fields>
void describe(Fields& fields, const ViewMemoryAnswer& answer) {
  std::vector<DeviceOf> devices;
  for (const DeviceMemory& device : *answer.devices) devices.push_back({answer.trace.get(), &device});
  std::vector<Nanoseconds> times;
  std::vector<std::int64_t> allocated;
  std::vector<std::optional<std::int64_t>> reserved;
  if (answer.device != nullptr) {
    for (const MemoryPoint& level : thinned(answer.device->levels, answer.points)) {
      times.push_back(level.time);
      allocated.push_back(level.allocated);
      reserved.push_back(if_reserved(level.reserved, *answer.device));
    }
  }
  fields.object("Memory", "Memory over time, and what lives at a time");
  fields.member("devices", devices, "with memory events");
  fields.member("device", answer.device == nullptr ? kHost : answer.device->device, "that the rest is about");
  fields.member("time_ns", times, "of the curve");
  fields.member("allocated_bytes", allocated, "from then on");
  fields.member("reserved_bytes", reserved, "likewise");
  fields.member("at_ns", answer.at, "when the following lives");
  fields.member("at_bytes", answer.live.bytes, "whose allocation is in the trace");
  fields.member("before_bytes", answer.live.before_bytes, "that were allocated before it");
  fields.member("by_operator", answer.live.by_operator, "by falling bytes, likewise below");
  fields.member("by_module", answer.live.by_module, "the innermost one");
  fields.member("by_kind", answer.live.by_kind, "what it is for, as far as the trace tells");
  fields.member("by_line", answer.live.by_line, "of the program");
}

std::string ViewMemoryAnswer::json() const { return compact_json_of(*this); }

Result<ViewMemoryAnswer> view_memory(const View& view, const ViewMemoryRequest& request) {
  if (request.points < kFewestPoints || request.points > kMostPoints)
    return failure(
        fmt::format("points must be from {} to {}, not {}", kFewestPoints, format_count(kMostPoints), request.points));
  ViewMemoryAnswer answer;
  answer.trace = view.trace;
  answer.points = static_cast<std::size_t>(request.points);
  answer.devices = view.kept->memory.get(0, [&] { return memory_by_device(*view.trace); });
  const std::vector<DeviceMemory>& devices = *answer.devices;
  if (request.device) {
    const auto found = std::ranges::find(devices, *request.device, &DeviceMemory::device);
    if (found == devices.end()) return failure(fmt::format("the trace has no memory of device {}", *request.device));
    answer.device = &*found;
  } else if (!devices.empty()) {
    // The host only where nothing else is there.
    answer.device = &*std::ranges::max_element(devices, {}, [](const DeviceMemory& device) {
      return std::pair(device.device != kHost, device.peak.allocated);
    });
  }
  if (answer.device == nullptr) return answer;
  answer.at = request.at.value_or(answer.device->peak.time);
  const auto phases =
      view.kept->phases.get(0, [&] { return phase_by_event(*view.trace, host_work_by_event(*view.trace)); });
  answer.live = live_memory(*view.trace, *answer.device, answer.at, *phases);
  return answer;
}

}  // namespace telltale::answers
