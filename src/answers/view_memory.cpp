#include "answers/view_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/gpu_peaks.h"
#include "analysis/host_work.h"
#include "answers/memory_category.h"
#include "answers/view_kept.h"
#include "base/amounts.h"
#include "memory/leaked_blocks.h"
#include "report/compact_json.h"
#include "report/memory_words.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::int64_t kFewestPoints = 4, kMostPoints = 20'000;
constexpr std::size_t kWidestName = 160;
constexpr std::size_t kMostNamed = 5;  // tensors under the pointer

std::string shown(std::string_view name) { return cut_to_width(printable(name), kWidestName); }

struct DeviceOf {
  const Trace* trace = nullptr;
  const DeviceMemory* memory = nullptr;
};

std::string name_of(const DeviceOf& of) {
  if (of.memory->device == kHost) return "host";
  const auto device = std::ranges::find(of.trace->devices, of.memory->device, &Device::id);
  std::string name = device == of.trace->devices.end() ? std::string() : shown_name(*device);
  return name.empty() ? fmt::format("device {}", of.memory->device) : name;
}

// What an allocator reserves, where it ever reserves something.
std::optional<std::int64_t> if_reserved(std::int64_t bytes, std::int64_t at_most) {
  return at_most == 0 ? std::nullopt : std::optional(bytes);
}

template <typename Fields>
void describe(Fields& fields, const DeviceOf& of) {
  fields.object("MemoryDevice", "A device with memory events");
  fields.member("id", of.memory->device, "-1: the host");
  fields.member("name", name_of(of), "its model");
  fields.member("peak_allocated_bytes", of.memory->peak.allocated, "the most that tensors took");
  fields.member("peak_reserved_bytes", if_reserved(of.memory->peak_reserved, of.memory->peak_reserved),
                "the most that the allocator held");
  fields.member("peak_ns", of.memory->peak.time, "when tensors took most");
  fields.member("capacity_bytes", capacity_of(*of.trace, of.memory->device), "how much it has");
}

// A layer of the curve.
struct Layer {
  MemoryUse use = MemoryUse::kOther;
  std::vector<std::int64_t> bytes;
};
template <typename Fields>
void describe(Fields& fields, const Layer& layer) {
  fields.object("MemoryLayer", "What one category takes over time");
  describe_category(fields, layer.use);
  fields.member("bytes", layer.bytes, "at the times of the curve");
}

std::vector<Layer> layers_of(const std::vector<UsesAt>& uses) {
  std::vector<Layer> layers;
  for (const MemoryUse use : stacked_uses()) {
    Layer layer{use, {}};
    for (const UsesAt& point : uses)
      layer.bytes.push_back(std::max<std::int64_t>(0, point.bytes[static_cast<std::size_t>(use)]));
    if (std::ranges::any_of(layer.bytes, [](std::int64_t bytes) { return bytes > 0; }))
      layers.push_back(std::move(layer));
  }
  return layers;
}

// One that is named under the pointer.
struct NamedTensor {
  std::int64_t bytes = 0;
  MemoryUse use = MemoryUse::kOther;
  std::string maker;
};
template <typename Fields>
void describe(Fields& fields, const NamedTensor& tensor) {
  fields.object("NamedTensor", "One of the largest at some time");
  fields.member("bytes", tensor.bytes, "how large");
  fields.member("category", telltale::name_of(tensor.use), "what it is for");
  fields.member("maker", tensor.maker, "who made it");
}

// Each block is named once, however long it stands.
struct NamedTensors {
  std::vector<NamedTensor> tensors;
  std::vector<std::vector<std::size_t>> largest;
};
NamedTensors named(const ViewMemoryAnswer& answer) {
  NamedTensors found;
  std::unordered_map<std::size_t, std::size_t> places;
  for (const std::vector<std::size_t>& standing : answer.largest) {
    std::vector<std::size_t>& row = found.largest.emplace_back();
    for (const std::size_t block : standing) {
      const auto [place, is_new] = places.try_emplace(block, found.tensors.size());
      if (is_new) {
        const UsedBlock& used = (*answer.blocks)[block];
        found.tensors.push_back({used.bytes, used.use, shown(maker_text(described(*answer.trace, used)))});
      }
      row.push_back(place->second);
    }
  }
  return found;
}

struct CategoryRow {
  const UseBytes& row;
};
template <typename Fields>
void describe(Fields& fields, const CategoryRow& of) {
  fields.object("MemoryCategoryRow", "What stands there for one purpose");
  describe_category(fields, of.row.use);
  fields.member("bytes", of.row.bytes, "how much");
  fields.member("noted_bytes", of.row.noted_bytes, "of which the program itself said what they are");
  fields.member("blocks", of.row.blocks, "how many pieces; 0: not known");
}

struct LineRow {
  const LineBytes& row;
};
template <typename Fields>
void describe(Fields& fields, const LineRow& of) {
  fields.object("MemoryLineRow", "What one line made");
  fields.member("name", shown(line_text(of.row)), "file, line and function");
  fields.member("bytes", of.row.bytes, "how much of it is there");
  fields.member("blocks", of.row.blocks, "how many pieces");
  fields.member("category", telltale::name_of(of.row.use), "of most of it");
  fields.member("example", event_or_null(of.row.example), "where the largest was made");
}

struct PlaceRow {
  const NamedBytes& row;
  std::string_view outside;
};
template <typename Fields>
void describe(Fields& fields, const PlaceRow& of) {
  fields.object("MemoryPlaceRow", "What one module or operator made");
  fields.member("name", of.row.name.empty() ? std::string(of.outside) : shown(of.row.name), "its name");
  fields.member("bytes", of.row.bytes, "how much of it is there");
  fields.member("blocks", of.row.blocks, "how many pieces");
  fields.member("example", event_or_null(of.row.example), "where the largest was made");
}

struct TensorRow {
  const PeakTensor& tensor;
};
template <typename Fields>
void describe(Fields& fields, const TensorRow& of) {
  fields.object("MemoryTensorRow", "One of the largest pieces");
  fields.member("maker", shown(maker_text(of.tensor)), "its name, operator, module and line, as far as they are known");
  fields.member("bytes", of.tensor.bytes, "how large");
  fields.member("category", telltale::name_of(of.tensor.use), "what it is for");
  fields.member("last_use", shown(last_use_text(of.tensor)),
                "the operator that used it last; `stays`: it is not freed");
  fields.member("made_ns", of.tensor.made, "when; null: before the recording");
  fields.member("freed_ns", of.tensor.freed, "when; null: not within it");
  fields.member("example", event_or_null(of.tensor.event), "where it was made");
}

template <typename Row, typename Of>
std::vector<Row> rows_of(const std::vector<Of>& all, auto... more) {
  std::vector<Row> rows;
  for (const Of& each : all) rows.push_back(Row{each, more...});
  return rows;
}

struct StandingOf {
  const MemoryPeak& at;
};
template <typename Fields>
void describe(Fields& fields, const StandingOf& of) {
  fields.object("MemoryStanding", "What stands there at a time; lists by falling bytes");
  fields.member("time_ns", of.at.time, "when");
  fields.member("allocated_bytes", of.at.allocated, "what tensors take then");
  fields.member("reserved_bytes", if_reserved(of.at.reserved_at_peak, of.at.reserved), "what the allocator holds then");
  fields.member("placed_bytes", of.at.placed, "that lines, modules and operators are about, listed or not");
  fields.member("categories", rows_of<CategoryRow>(of.at.uses), "what it is for");
  fields.member("lines", rows_of<LineRow>(of.at.lines), "that made it");
  fields.member("modules", rows_of<PlaceRow>(of.at.modules, std::string_view("outside of modules")), "likewise");
  fields.member("operators", rows_of<PlaceRow>(of.at.operators, std::string_view("outside of operators")), "likewise");
  fields.member("tensors", rows_of<TensorRow>(of.at.tensors), "the ten largest");
}

// The levels of a stretch, from the one that it begins with.
std::vector<MemoryPoint> levels_in(const DeviceMemory& device, Nanoseconds start, Nanoseconds end) {
  const auto first = std::ranges::upper_bound(device.levels, start, {}, &MemoryPoint::time);
  const auto last = std::ranges::upper_bound(device.levels, end, {}, &MemoryPoint::time);
  std::vector<MemoryPoint> levels;
  if (first != device.levels.begin()) {
    levels.push_back(*(first - 1));
    levels.back().time = start;
  }
  levels.insert(levels.end(), first, last);
  return levels;
}

const DeviceMemory* fullest(const std::vector<DeviceMemory>& devices) {
  if (devices.empty()) return nullptr;
  // The host only where nothing else is there.
  return &*std::ranges::max_element(
      devices, {}, [](const DeviceMemory& device) { return std::pair(device.device != kHost, device.peak.allocated); });
}

Result<void> check(const ViewMemoryRequest& request) {
  if (request.points < kFewestPoints || request.points > kMostPoints)
    return failure(
        fmt::format("points must be from {} to {}, not {}", kFewestPoints, format_count(kMostPoints), request.points));
  if (request.start.has_value() != request.end.has_value()) return failure("start and end go together");
  if (request.start && *request.start >= *request.end) return failure("start must be before end");
  return {};
}

}  // namespace

template <typename Fields>
void describe(Fields& fields, const ViewMemoryAnswer& answer) {
  std::vector<DeviceOf> devices;
  for (const DeviceMemory& device : *answer.devices) devices.push_back({answer.trace.get(), &device});
  std::vector<Nanoseconds> times;
  std::vector<std::int64_t> allocated;
  std::vector<std::optional<std::int64_t>> reserved;
  for (const MemoryPoint& level : answer.levels) {
    times.push_back(level.time);
    allocated.push_back(level.allocated);
    reserved.push_back(if_reserved(level.reserved, answer.device->peak_reserved));
  }
  const NamedTensors tensors = named(answer);
  fields.object("Memory", "Memory over time, and what stands there at a time");
  fields.member("devices", devices, "with memory events");
  fields.member("device", answer.device == nullptr ? kHost : answer.device->device, "that the rest is about");
  fields.member("time_ns", times, "of the curve");
  fields.member("allocated_bytes", allocated, "from then on");
  fields.member("reserved_bytes", reserved, "likewise");
  fields.member("layers", layers_of(answer.uses), "what is allocated, by category from the ground up");
  fields.member("tensors", tensors.tensors, "that are the largest at some of the times");
  fields.member("largest", tensors.largest, "at each of the times: places in `tensors`, by falling size");
  fields.member("at", StandingOf{answer.at}, "what stands there at the chosen time");
}

std::string ViewMemoryAnswer::json() const { return compact_json_of(*this); }

Result<ViewMemoryAnswer> view_memory(const View& view, const ViewMemoryRequest& request) {
  if (const auto good = check(request); !good) return std::unexpected(good.error());
  ViewMemoryAnswer answer;
  answer.trace = view.trace;
  answer.devices = view.kept->memory.get(0, [&] { return memory_by_device(*view.trace); });
  const std::vector<DeviceMemory>& devices = *answer.devices;
  answer.device = fullest(devices);
  if (request.device) {
    const auto found = std::ranges::find(devices, *request.device, &DeviceMemory::device);
    if (found == devices.end()) return failure(fmt::format("the trace has no memory of device {}", *request.device));
    answer.device = &*found;
  }
  if (answer.device == nullptr) return answer;
  const DeviceMemory& device = *answer.device;
  const auto phases =
      view.kept->phases.get(0, [&] { return phase_by_event(*view.trace, host_work_by_event(*view.trace)); });
  answer.blocks = view.kept->used_blocks.get(device.device, [&] {
    std::vector<UsedBlock> blocks = used_blocks(*view.trace, device.device, *phases);
    mark_left_behind(*view.trace, device, blocks);
    return blocks;
  });
  answer.levels = thinned(request.start ? levels_in(device, *request.start, *request.end) : device.levels,
                          static_cast<std::size_t>(request.points));
  answer.uses = uses_at(answer.levels, *answer.blocks);
  answer.largest = largest_at(answer.levels, *answer.blocks, kMostNamed);
  answer.at = memory_at(*view.trace, device, *answer.blocks, request.at.value_or(device.peak.time));
  return answer;
}

}  // namespace telltale::answers
