#include "analysis/memory_map.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/torch_memory.h"

namespace telltale {
namespace {

// What the program noted of the model and its training, and no event allocates before that.
std::int64_t noted_from_before(const Trace& trace, DeviceId device, const std::vector<std::size_t>& rows) {
  constexpr std::string_view kRoles[] = {"parameter", "buffer", "gradient", "optimizer_state", "kv_cache"};
  std::unordered_map<std::uint64_t, Nanoseconds> made;  // by address, the first time
  for (const std::size_t row : rows)
    if (trace.memory.bytes[row] > 0) made.try_emplace(trace.memory.address[row], trace.memory.time[row]);
  std::unordered_map<std::uint64_t, std::int64_t> before;
  for (const NotedTensor& note : trace.noted_tensors) {
    if (note.device != device || std::ranges::find(kRoles, trace.strings[note.role]) == std::end(kRoles)) continue;
    const auto first = made.find(note.address);
    if (first != made.end() && first->second <= note.time + kClockDifference) continue;
    std::int64_t& bytes = before[note.address];
    bytes = std::max(bytes, note.bytes);
  }
  std::int64_t sum = 0;
  for (const auto& [address, bytes] : before) sum += bytes;
  return sum;
}

DeviceMemory memory_of(const Trace& trace, DeviceId device, const std::vector<std::size_t>& rows) {
  MemoryLevels levels = memory_levels(trace, rows);
  // PyTorch counts what it allocates on a host from when it is asked to: what was there before is in no total.
  if (device == kHost) {
    const std::int64_t uncounted = noted_from_before(trace, device, rows) - levels.allocated_before;
    if (uncounted > 0) {
      levels.allocated_before += uncounted;
      for (MemoryPoint& point : levels.points) point.allocated += uncounted;
    }
  }
  DeviceMemory found{.device = device, .levels = std::move(levels.points), .allocated_before = levels.allocated_before};
  found.peak = *std::ranges::max_element(found.levels, {}, &MemoryPoint::allocated);
  found.peak_reserved = std::ranges::max(found.levels, {}, &MemoryPoint::reserved).reserved;
  return found;
}

// What its allocator held when a snapshot without a log was taken.
DeviceMemory held_memory(const Trace& trace, DeviceId device) {
  MemoryPoint held;
  for (const MemorySegment& segment : trace.memory_segments)
    if (segment.device == device) held.reserved += segment.bytes;
  for (const MemoryBlock& block : trace.memory_blocks)
    if (block.segment < trace.memory_segments.size() && trace.memory_segments[block.segment].device == device &&
        block.state == BlockState::kAllocated)
      held.allocated += block.bytes;
  return {.device = device,
          .levels = {held},
          .allocated_before = held.allocated,
          .peak = held,
          .peak_reserved = held.reserved};
}

}  // namespace

std::vector<DeviceMemory> memory_by_device(const Trace& trace) {
  std::map<DeviceId, std::vector<std::size_t>> rows = memory_rows(trace);
  for (const MemorySegment& segment : trace.memory_segments) rows.try_emplace(segment.device);
  std::vector<DeviceMemory> devices;
  for (const auto& [device, of_device] : rows)
    if (device != kHost)
      devices.push_back(of_device.empty() ? held_memory(trace, device) : memory_of(trace, device, of_device));
  if (const auto host = rows.find(kHost); host != rows.end()) devices.push_back(memory_of(trace, kHost, host->second));
  return devices;
}

std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& levels, std::size_t most) {
  if (levels.size() <= most) return levels;
  const auto buckets = static_cast<Nanoseconds>(std::max<std::size_t>(1, most / 4));
  const Nanoseconds begin = levels.front().time;
  const Nanoseconds length = (levels.back().time - begin) / buckets + 1;
  std::vector<MemoryPoint> kept;
  for (std::size_t first = 0; first < levels.size();) {
    std::size_t end = first, lowest = first, highest = first;
    const Nanoseconds bucket = (levels[first].time - begin) / length;
    for (; end < levels.size() && (levels[end].time - begin) / length == bucket; ++end) {
      if (levels[end].allocated < levels[lowest].allocated) lowest = end;
      if (levels[end].allocated > levels[highest].allocated) highest = end;
    }
    std::size_t chosen[] = {first, lowest, highest, end - 1};
    std::ranges::sort(chosen);
    for (std::size_t i = 0; i < std::size(chosen); ++i)
      if (i == 0 || chosen[i] != chosen[i - 1]) kept.push_back(levels[chosen[i]]);
    first = end;
  }
  return kept;
}

std::string_view module_around(const Trace& trace, EventId event) {
  constexpr int kMostLooks = 1000, kMostCauses = 5;
  constexpr std::string_view kPrefix = "nn.Module: ";
  for (int causes = 0; causes < kMostCauses && event != kNoEvent; ++causes) {
    EventId cause = kNoEvent, at = event;
    for (int looks = 0; at != kNoEvent && looks < kMostLooks; ++looks, at = trace.events.parent[at]) {
      const std::string_view name = trace.name(at);
      if (trace.events.kind[at] == Kind::kModule) return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
      if (cause == kNoEvent) cause = trace.events.cause[at];
    }
    event = cause;
  }
  return {};
}

}  // namespace telltale
