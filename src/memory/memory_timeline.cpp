#include "memory/memory_timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/robust_statistics.h"

namespace telltale {
namespace {

// A step whose peak is this share above or below the median is unlike the others.
constexpr double kDifference = 0.1;

struct Change {
  Nanoseconds time = 0;
  std::int64_t bytes = 0;
  MemoryUse use = MemoryUse::kOther;
};

std::vector<Change> changes_of(std::span<const UsedBlock> blocks) {
  std::vector<Change> changes;
  for (const UsedBlock& block : blocks) {
    changes.push_back({block.allocated, block.bytes, block.use});
    if (block.freed != UsedBlock::kNever) changes.push_back({block.freed, -block.bytes, block.use});
  }
  std::ranges::stable_sort(changes, {}, &Change::time);
  return changes;
}

// What is allocated and no block accounts for was there before.
std::vector<UsesAt> uses_at(const std::vector<MemoryPoint>& levels, std::span<const UsedBlock> blocks) {
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

}  // namespace

MemoryTimeline memory_timeline(const DeviceMemory& device, std::span<const UsedBlock> blocks,
                               const StepTiming& timing) {
  MemoryTimeline timeline;
  timeline.levels = thinned(device.levels, kMostTimelinePoints);
  timeline.uses = uses_at(timeline.levels, blocks);
  timeline.steps = steps_of(device, timing);
  return timeline;
}

}  // namespace telltale
