#include "memory/memory_timeline.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/robust_statistics.h"
#include "memory/allocator_walk.h"

namespace telltale {
namespace {

// A step whose peak is this share above or below the median is unlike the others.
constexpr double kDifference = 0.1;
// Peaks rise where so many steps of all peak above the one before, and the last so much above the first.
constexpr double kRisingSteps = 0.8, kLeastRise = 0.02;
constexpr std::size_t kLeastRisingSteps = 4;
constexpr std::size_t kMostNamed = 5;  // tensors at one time

struct Change {
  Nanoseconds time = 0;
  std::int64_t bytes = 0;
  MemoryUse use = MemoryUse::kOther;
};

std::vector<Change> changes_of(std::span<const UsedBlock> blocks) {
  std::vector<Change> changes;
  for (const UsedBlock& block : blocks) {
    changes.push_back({block.allocated, block.bytes, block.use});
    if (block.left_behind < block.freed) {
      // As use_at() has it: when the step ends, the block is still its own.
      changes.push_back({block.left_behind + 1, -block.bytes, block.use});
      changes.push_back({block.left_behind + 1, block.bytes, MemoryUse::kLeftBehind});
    }
    if (block.freed != UsedBlock::kNever) changes.push_back({block.freed, -block.bytes, block.use_at(block.freed)});
  }
  std::ranges::stable_sort(changes, {}, &Change::time);
  return changes;
}

std::vector<StepMemory> steps_of(const DeviceMemory& device, const StepTiming& timing) {
  std::vector<StepMemory> steps;
  if (timing.source == StepSource::kWhole) return steps;
  auto at = device.levels.begin();
  std::int64_t level = device.allocated_before;
  for (const StepSpan& span : all_steps(timing)) {
    for (; at != device.levels.end() && at->time <= span.host.begin; ++at) level = at->allocated;
    StepMemory step{span.index, span.host, level, level};
    for (; at != device.levels.end() && at->time < span.host.end; ++at) {
      level = at->allocated;
      step.peak = std::max(step.peak, level);
      step.minimum = std::min(step.minimum, level);
    }
    steps.push_back(step);
  }
  std::vector<Nanoseconds> peaks;
  for (const StepMemory& step : steps) peaks.push_back(step.peak);
  const auto usual = static_cast<double>(median(std::move(peaks)));
  for (StepMemory& step : steps) step.differs = std::abs(static_cast<double>(step.peak) - usual) > kDifference * usual;
  return steps;
}

bool do_peaks_rise(const std::vector<StepMemory>& steps) {
  if (steps.size() < kLeastRisingSteps) return false;
  std::size_t rising = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) rising += steps[i].peak > steps[i - 1].peak ? 1 : 0;
  const auto first = static_cast<double>(steps.front().peak), last = static_cast<double>(steps.back().peak);
  return static_cast<double>(rising) >= kRisingSteps * static_cast<double>(steps.size() - 1) &&
         last > (1 + kLeastRise) * first;
}

// Each block is described once, however long it stands.
void name_largest(const Trace& trace, std::span<const UsedBlock> blocks, MemoryTimeline& timeline) {
  std::unordered_map<std::size_t, std::size_t> places;
  for (const std::vector<std::size_t>& standing : largest_at(timeline.levels, blocks, kMostNamed)) {
    std::vector<std::size_t>& row = timeline.largest.emplace_back();
    for (const std::size_t block : standing) {
      const auto [place, is_new] = places.try_emplace(block, timeline.tensors.size());
      if (is_new) timeline.tensors.push_back(described(trace, blocks[block]));
      row.push_back(place->second);
    }
  }
}

}  // namespace

std::vector<UsesAt> uses_at(std::span<const MemoryPoint> levels, std::span<const UsedBlock> blocks) {
  const std::vector<Change> changes = changes_of(blocks);
  std::vector<UsesAt> points;
  UsesAt now;
  std::int64_t known = 0;
  auto next = changes.begin();
  for (const MemoryPoint& level : levels) {
    for (; next != changes.end() && next->time <= level.time; ++next) {
      now.bytes[static_cast<std::size_t>(next->use)] += next->bytes;
      known += next->bytes;
    }
    UsesAt point = now;
    point.time = level.time;
    point.bytes[static_cast<std::size_t>(MemoryUse::kBefore)] += std::max<std::int64_t>(0, level.allocated - known);
    points.push_back(point);
  }
  return points;
}

std::vector<std::vector<std::size_t>> largest_at(std::span<const MemoryPoint> levels, std::span<const UsedBlock> blocks,
                                                 std::size_t most) {
  // Most blocks come and go between two of the times, and are never looked at again.
  struct Stay {
    std::size_t block = 0, first = 0, end = 0;  // from which of the times, and before which
  };
  std::vector<Stay> stays;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto first = std::ranges::lower_bound(levels, blocks[i].allocated, {}, &MemoryPoint::time) - levels.begin();
    const auto end = std::ranges::lower_bound(levels, blocks[i].freed, {}, &MemoryPoint::time) - levels.begin();
    if (first < end) stays.push_back({i, static_cast<std::size_t>(first), static_cast<std::size_t>(end)});
  }
  std::ranges::stable_sort(stays, {}, &Stay::first);
  const auto is_before = [&](const Stay& left, const Stay& right) {
    return blocks[left.block].bytes != blocks[right.block].bytes ? blocks[left.block].bytes > blocks[right.block].bytes
                                                                 : left.block < right.block;
  };
  std::set<Stay, decltype(is_before)> standing(is_before);
  std::vector<std::vector<std::size_t>> largest(levels.size());
  auto next = stays.begin();
  for (std::size_t at = 0; at < levels.size(); ++at) {
    for (; next != stays.end() && next->first == at; ++next) standing.insert(*next);
    for (auto each = standing.begin(); each != standing.end() && largest[at].size() < most;) {
      if (each->end <= at) {  // what is gone is found when it comes first
        each = standing.erase(each);
        continue;
      }
      largest[at].push_back(each->block);
      ++each;
    }
  }
  return largest;
}

std::vector<std::int64_t> requested_at(const Trace& trace, DeviceId device, std::span<const MemoryPoint> levels) {
  std::vector<std::int64_t> requested;
  const auto is_of_device = [&](const AllocatorEvent& event) { return event.device == device; };
  if (std::ranges::none_of(trace.allocator_events, is_of_device)) return requested;
  AllocatorWalk walk(trace, device);
  std::size_t next = 0;  // entry that was not applied yet
  for (const MemoryPoint& level : levels) {
    const std::size_t before = next;
    while (next < trace.allocator_events.size() && trace.allocator_events[next].time <= level.time) ++next;
    if (next > before) walk.apply_through(next - 1);
    requested.push_back(walk.totals().requested);
  }
  return requested;
}

MemoryTimeline memory_timeline(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks,
                               const StepTiming& timing) {
  MemoryTimeline timeline;
  timeline.levels = thinned(device.levels, kMostTimelinePoints);
  timeline.uses = uses_at(timeline.levels, blocks);
  timeline.requested = requested_at(trace, device.device, timeline.levels);
  for (const MemoryPoint& level : timeline.levels)
    if (const auto used = device_count_at(trace, device.device, level.time)) timeline.device_used.push_back(*used);
  name_largest(trace, blocks, timeline);
  timeline.steps = steps_of(device, timing);
  timeline.peaks_rise = do_peaks_rise(timeline.steps);
  return timeline;
}

}  // namespace telltale
