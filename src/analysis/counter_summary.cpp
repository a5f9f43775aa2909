#include "analysis/counter_summary.h"

#include <algorithm>
#include <optional>

namespace telltale {
namespace {

// The value that the window begins with was set before it, and counts from there on like those within.
std::optional<CounterSummary> summary_of(const Trace& trace, const CounterSeries& series, Interval window) {
  const Counters& counters = trace.counters;
  const auto time = [&](std::uint32_t row) { return std::max(counters.time[row], window.begin); };
  CounterSummary summary;
  double weighted = 0;
  Nanoseconds covered = 0;
  bool is_first = true;
  for (std::uint32_t row = series.first; row < series.first + series.count; ++row) {
    const bool is_last = row + 1 == series.first + series.count;
    const bool is_before = !is_last && counters.time[row + 1] <= window.begin;
    if (is_before || counters.time[row] > window.end) continue;
    const double value = counters.value[row];
    if (counters.time[row] >= window.begin) ++summary.values;
    summary.minimum = is_first ? value : std::min(summary.minimum, value);
    summary.maximum = is_first ? value : std::max(summary.maximum, value);
    summary.last = value;
    is_first = false;
    const Nanoseconds until = is_last ? window.end : std::min(time(row + 1), window.end);
    const Nanoseconds held = std::max<Nanoseconds>(0, until - time(row));
    weighted += value * static_cast<double>(held);
    covered += held;
  }
  if (summary.values == 0) return std::nullopt;
  summary.mean = covered > 0 ? weighted / static_cast<double>(covered) : summary.last;
  summary.name = trace.strings[series.name];
  summary.series = trace.strings[series.series];
  return summary;
}

}  // namespace

std::vector<CounterSummary> counter_summaries(const Trace& trace, Interval window) {
  std::vector<CounterSummary> summaries;
  for (const CounterSeries& series : trace.counters.series)
    if (auto summary = summary_of(trace, series, window)) summaries.push_back(std::move(*summary));
  return summaries;
}

}  // namespace telltale
