#include "memory/memory_leaks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/memory_summary.h"
#include "analysis/robust_statistics.h"
#include "memory/memory_peak.h"

namespace telltale {
namespace {

// Of the resident size of a process. It counts more than tensors; a process that warms up takes tens of mebibytes.
constexpr double kLeastResidentGrowth = 64.0 * 1024 * 1024;

std::vector<Nanoseconds> ends_of(const StepTiming& timing) {
  std::vector<Nanoseconds> ends;
  if (timing.source == StepSource::kWhole) return ends;
  for (const StepSpan& step : all_steps(timing)) ends.push_back(step.host.end);
  return ends;
}

// The rate at which something grows, or 0: that of all steps and of their second half, whichever is less.
double growth_of(std::span<const std::int64_t> levels) {
  const auto late = levels.last((levels.size() + 1) / 2);
  const double whole = theil_sen_slope(levels).value_or(0), of_late = theil_sen_slope(late).value_or(whole);
  // Of two values there is one slope.
  const double slope = late.size() == 2 ? static_cast<double>(late[1] - late[0]) : of_late;
  return std::max(0.0, std::min(whole, slope));
}

struct Line {
  std::vector<std::int64_t> levels;  // at the end of each step: first how they change, then what they are
  std::map<MemoryUse, std::int64_t> by_use;
  const UsedBlock* newest = nullptr;
};

// The step within which a time lies, as an index of `ends`.
std::size_t step_of(const std::vector<Nanoseconds>& ends, Nanoseconds time) {
  return static_cast<std::size_t>(std::ranges::lower_bound(ends, time) - ends.begin());
}

std::optional<double> steps_to_full(const Trace& trace, DeviceId device, std::int64_t used, double rate) {
  const std::optional<std::int64_t> capacity = capacity_of(trace, device);
  if (!capacity) return {};
  return std::max(0.0, static_cast<double>(*capacity - used) / rate);
}

}  // namespace

std::vector<MemoryLeak> memory_leaks(const Trace& trace, DeviceId device, std::span<const UsedBlock> blocks,
                                     const StepTiming& timing, std::int64_t used) {
  const std::vector<Nanoseconds> ends = ends_of(timing);
  if (ends.size() < kLeastStepsOfLeak) return {};
  std::map<std::tuple<std::string, int>, Line> lines;
  std::map<std::tuple<std::string, int>, std::optional<SourceLine>> sources;
  for (const UsedBlock& block : blocks) {
    const std::size_t first = step_of(ends, block.allocated), last = step_of(ends, block.freed);
    if (first == last) continue;  // no step ends with it
    const std::optional<SourceLine> source = line_of(trace, block);
    const auto key = source ? std::tuple(source->file, source->line) : std::tuple(std::string(), -1);
    sources[key] = source;
    Line& line = lines[key];
    line.levels.resize(ends.size());
    line.levels[first] += block.bytes;
    if (last < ends.size()) {
      line.levels[last] -= block.bytes;
      continue;
    }
    line.by_use[block.use] += block.bytes;
    line.newest = &block;
  }
  std::vector<MemoryLeak> leaks;
  for (auto& [key, line] : lines) {
    std::partial_sum(line.levels.begin(), line.levels.end(), line.levels.begin());
    const double rate = growth_of(line.levels);
    if (rate < kLeastLeakPerStep || line.newest == nullptr) continue;
    MemoryLeak leak{.device = device, .source = sources[key], .bytes_per_step = rate, .bytes = line.levels.back()};
    leak.example = maker_of(trace, line.newest->event);
    if (leak.example != kNoEvent) leak.made_by = trace.name(leak.example);
    leak.use = std::ranges::max_element(line.by_use, {}, [](const auto& each) { return each.second; })->first;
    leak.steps_to_full = steps_to_full(trace, device, used, rate);
    leaks.push_back(std::move(leak));
  }
  std::ranges::stable_sort(leaks, std::ranges::greater{}, &MemoryLeak::bytes_per_step);
  return leaks;
}

std::vector<MemoryLeak> resident_leaks(const Trace& trace, const StepTiming& timing) {
  const std::vector<Nanoseconds> ends = ends_of(timing);
  std::vector<MemoryLeak> leaks;
  if (ends.size() < kLeastStepsOfLeak) return leaks;
  const Counters& counters = trace.counters;
  for (const CounterSeries& series : counters.series) {
    const std::string_view name = trace.strings[series.name];
    if (!name.contains("resident memory") || series.count == 0) continue;
    const std::span times(counters.time.data() + series.first, series.count);
    const std::span values(counters.value.data() + series.first, series.count);
    std::vector<std::int64_t> levels;
    for (const Nanoseconds end : ends) {
      const auto behind = std::ranges::upper_bound(times, end) - times.begin();
      if (behind > 0) levels.push_back(static_cast<std::int64_t>(values[static_cast<std::size_t>(behind - 1)]));
    }
    if (levels.size() < kLeastStepsOfLeak) continue;
    const double rate = growth_of(levels);
    if (rate * static_cast<double>(levels.size()) < kLeastResidentGrowth) continue;
    MemoryLeak leak{.bytes_per_step = rate, .bytes = levels.back() - levels.front()};
    leak.made_by = name;
    leak.steps_to_full = steps_to_full(trace, kHost, levels.back(), rate);
    leaks.push_back(std::move(leak));
  }
  return leaks;
}

}  // namespace telltale
