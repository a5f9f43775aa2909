#include "analysis/memory_summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "analysis/api_calls.h"
#include "analysis/robust_statistics.h"

namespace telltale {
namespace {

constexpr std::size_t kCurveBuckets = 1000;  // two points each

Interval span_of(const std::vector<StepSpan>& steps) { return {steps.front().host.begin, steps.back().host.end}; }

// The points within the span, after one at its begin that says what was there already.
std::vector<MemoryPoint> points_within(const MemoryLevels& levels, Interval span) {
  const auto first = std::ranges::lower_bound(levels.points, span.begin, {}, &MemoryPoint::time);
  const auto last = std::ranges::upper_bound(levels.points, span.end, {}, &MemoryPoint::time);
  const bool is_first = first == levels.points.begin();
  std::vector<MemoryPoint> within = {{span.begin, is_first ? levels.allocated_before : (first - 1)->allocated,
                                      is_first ? levels.reserved_before : (first - 1)->reserved}};
  if (first < last) within.insert(within.end(), first, last);
  return within;
}

void find_peak(MemorySummary& summary, const std::vector<MemoryPoint>& points) {
  const auto peak = std::ranges::max_element(points, {}, &MemoryPoint::allocated);
  summary.peak_allocated = peak->allocated;
  summary.reserved_at_peak = peak->reserved;
  summary.peak_time = peak->time;
  summary.peak_reserved = std::ranges::max(points, {}, &MemoryPoint::reserved).reserved;
}

struct Extremes {
  std::vector<std::int64_t> least, most;  // by step
};

Extremes extremes_of(const std::vector<StepSpan>& steps, const std::vector<MemoryPoint>& points) {
  Extremes extremes;
  auto at = points.begin();  // the last point at or before the step's begin
  for (const StepSpan& step : steps) {
    while (at + 1 != points.end() && (at + 1)->time <= step.host.begin) ++at;
    std::int64_t least = at->allocated, most = at->allocated;
    for (auto next = at + 1; next != points.end() && next->time < step.host.end; ++next) {
      least = std::min(least, next->allocated);
      most = std::max(most, next->allocated);
    }
    extremes.least.push_back(least);
    extremes.most.push_back(most);
  }
  return extremes;
}

// The highest and the last point of each of equally long stretches, in order.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& points, Interval span) {
  if (points.size() <= 2 * kCurveBuckets) return points;
  const Nanoseconds length = span.length() / static_cast<Nanoseconds>(kCurveBuckets) + 1;
  std::vector<MemoryPoint> kept;
  for (auto begin = points.begin(); begin != points.end();) {
    const Nanoseconds bucket = (begin->time - span.begin) / length;
    const auto end = std::find_if(
        begin, points.end(), [&](const MemoryPoint& point) { return (point.time - span.begin) / length != bucket; });
    const auto highest = std::max_element(
        begin, end, [](const MemoryPoint& a, const MemoryPoint& b) { return a.allocated < b.allocated; });
    kept.push_back(*highest);
    if (highest != end - 1) kept.push_back(*(end - 1));
    begin = end;
  }
  return kept;
}

// aten::empty makes memory for whoever calls it.
bool only_makes_memory(std::string_view name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::resize");
}

using LiveBlocks = std::unordered_map<std::uint64_t, std::size_t>;  // the row of the allocation, by address

// Follows every block from its allocation to its free; returns what is left when the steps end. What is freed behind
// them, as a list is when the function that holds it returns, was there for as long as the program ran.
LiveBlocks follow_blocks(const Trace& trace, const StepTiming& timing, MemorySummary& summary) {
  const Nanoseconds end = span_of(all_steps(timing)).end;
  const MemoryEvents& memory = trace.memory;
  LiveBlocks live;
  EventId largest = kNoEvent;
  for (std::size_t row = 0; row < memory.size(); ++row) {
    if (memory.device[row] != summary.device || memory.time[row] >= end) continue;
    if (memory.bytes[row] > 0) {
      live[memory.address[row]] = row;
      continue;
    }
    const auto block = live.find(memory.address[row]);
    if (block == live.end()) continue;
    const std::size_t made = block->second;
    live.erase(block);
    if (memory.bytes[made] <= summary.largest_allocation) continue;
    const int step = step_at(timing, memory.time[made]);
    if (step < 0 || step != step_at(timing, memory.time[row])) continue;
    summary.largest_allocation = memory.bytes[made];
    largest = memory.event[made];
  }
  summary.largest_event = maker_of(trace, largest);
  return live;
}

std::vector<Survivor> survivors_of(const Trace& trace, const StepTiming& timing, const LiveBlocks& live) {
  const MemoryEvents& memory = trace.memory;
  const int steps_before_last = static_cast<int>(timing.steps.size()) - 1;
  struct Group {
    Survivor survivor;
    std::int64_t largest = 0, early = 0;
    std::set<int> steps;
  };
  std::vector<std::size_t> rows;
  for (const auto& [address, row] : live) rows.push_back(row);
  std::ranges::sort(rows);
  std::map<StringId, Group> by_name;
  for (const std::size_t row : rows) {
    const int step = step_at(timing, memory.time[row]);
    if (step < 0 || step >= steps_before_last) continue;
    const EventId op = maker_of(trace, memory.event[row]);
    Group& group = by_name[op == kNoEvent ? kEmptyString : trace.events.name[op]];
    group.survivor.bytes += memory.bytes[row];
    group.survivor.count += 1;
    if (2 * (step + 1) <= steps_before_last) group.early += memory.bytes[row];
    group.steps.insert(step);
    if (memory.bytes[row] <= group.largest) continue;
    group.largest = memory.bytes[row];
    group.survivor.op = op;
  }
  std::vector<Survivor> survivors;
  for (auto& [name, group] : by_name) {
    group.survivor.early_share = static_cast<double>(group.early) / static_cast<double>(group.survivor.bytes);
    group.survivor.bytes /= steps_before_last;
    group.survivor.steps = static_cast<std::int64_t>(group.steps.size());
    survivors.push_back(group.survivor);
  }
  std::ranges::stable_sort(survivors, std::ranges::greater{}, &Survivor::bytes);
  return survivors;
}

bool is_allocation(ApiCall call) { return call == ApiCall::kAllocation || call == ApiCall::kOrderedAllocation; }
bool is_free(ApiCall call) { return call == ApiCall::kFree || call == ApiCall::kOrderedFree; }
// Calls that fetch memory from the device's driver or give it back; those for pinned memory of the host are none.
bool is_of_allocator(ApiCall call) { return is_allocation(call) || is_free(call) || call == ApiCall::kMapping; }

void count_allocator_calls(const Trace& trace, const StepTiming& timing, MemorySummary& summary) {
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_api_call(events.kind[event])) continue;
    const ApiCall call = api_call_named(trace.name(event));
    if (!is_of_allocator(call) || step_at(timing, events.start[event]) < 0) continue;
    const EventId parent = events.parent[event];
    // cudaMalloc calls the driver's cuMemAlloc, which is no allocation of its own.
    const bool is_within_another =
        parent != kNoEvent && is_api_call(events.kind[parent]) && is_of_allocator(api_call_named(trace.name(parent)));
    if (is_within_another) continue;
    summary.device_allocations += is_allocation(call);
    summary.device_frees += is_free(call);
    summary.allocator_call_ns += events.duration[event];
  }
  const auto steps = timing.steps.size();
  summary.device_allocations /= static_cast<double>(steps);
  summary.device_frees /= static_cast<double>(steps);
  summary.allocator_call_ns /= static_cast<Nanoseconds>(steps);
}

bool has_device_work(const Trace& trace) {
  return std::ranges::any_of(
      trace.tracks, [](const Track& track) { return track.kind == TrackKind::kStream && track.event_count > 0; });
}

}  // namespace

EventId maker_of(const Trace& trace, EventId innermost) {
  EventId maker = kNoEvent;
  for (EventId at = innermost; at != kNoEvent; at = trace.events.parent[at]) {
    const Kind kind = trace.events.kind[at];
    if (kind == Kind::kAnnotation && maker == kNoEvent) return at;
    if (kind != Kind::kOperator) continue;
    maker = at;
    if (!only_makes_memory(trace.name(at))) break;
  }
  return maker == kNoEvent ? innermost : maker;
}

std::optional<MemorySummary> memory_summary(const Trace& trace, const StepTiming& timing) {
  std::map<DeviceId, std::vector<std::size_t>> devices = memory_rows(trace);
  if (devices.size() > 1 || has_device_work(trace)) devices.erase(kHost);
  if (devices.empty()) return {};

  const Interval span = span_of(timing.steps);
  MemorySummary summary;
  std::vector<MemoryPoint> points;
  for (const auto& [device, rows] : devices) {
    MemorySummary candidate;
    candidate.device = device;
    std::vector<MemoryPoint> of_device = points_within(memory_levels(trace, rows), span);
    find_peak(candidate, of_device);
    if (!points.empty() && candidate.peak_allocated <= summary.peak_allocated) continue;
    summary = candidate;
    points = std::move(of_device);
  }
  Extremes extremes = extremes_of(timing.steps, points);
  summary.step_minimum = std::move(extremes.least);
  summary.step_peak = std::move(extremes.most);
  summary.curve = thinned(points, span);
  const LiveBlocks left = follow_blocks(trace, timing, summary);
  StepTiming whole = timing;
  whole.steps = all_steps(timing);
  points = points_within(memory_levels(trace, devices.at(summary.device)), span_of(whole.steps));
  summary.growth_per_step = theil_sen_slope(extremes_of(whole.steps, points).least);
  summary.survivors = survivors_of(trace, whole, left);
  count_allocator_calls(trace, timing, summary);
  return summary;
}

}  // namespace telltale
