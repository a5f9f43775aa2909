#include "base/intervals.h"

#include <algorithm>
#include <span>

#include "base/merge_runs.h"

namespace telltale {

std::vector<Interval> united(std::vector<Interval> intervals) {
  merge_runs(std::span(intervals), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> merged;
  for (const Interval& interval : intervals) {
    if (interval.length() <= 0) continue;
    if (!merged.empty() && interval.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, interval.end);
    else
      merged.push_back(interval);
  }
  return merged;
}

std::vector<Interval> gaps_between(const std::vector<Interval>& united, Interval window) {
  std::vector<Interval> gaps;
  Nanoseconds at = window.begin;
  for (const Interval& busy : clipped(united, window)) {
    if (busy.begin > at) gaps.push_back({at, busy.begin});
    at = busy.end;
  }
  if (at < window.end) gaps.push_back({at, window.end});
  return gaps;
}

std::vector<Interval> clipped(const std::vector<Interval>& united, Interval window) {
  auto at = std::partition_point(united.begin(), united.end(),
                                 [&](const Interval& interval) { return interval.end <= window.begin; });
  std::vector<Interval> inside;
  for (; at != united.end() && at->begin < window.end; ++at)
    inside.push_back({std::max(at->begin, window.begin), std::min(at->end, window.end)});
  return inside;
}

Nanoseconds total_length(const std::vector<Interval>& united) {
  Nanoseconds total = 0;
  for (const Interval& interval : united) total += interval.length();
  return total;
}

}  // namespace telltale
