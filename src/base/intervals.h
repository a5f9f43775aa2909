// Stretches of time, and sets of them.
#pragma once

#include <vector>

#include "base/time.h"

namespace telltale {

// From `begin` up to, not including, `end`.
struct Interval {
  Nanoseconds begin = 0, end = 0;

  Nanoseconds length() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

// The same instants in ascending intervals that neither overlap nor touch; empty intervals vanish.
// Linear when the input is sorted by begin.
std::vector<Interval> united(std::vector<Interval> intervals);

// The instants of `window` that lie in none of the united intervals.
std::vector<Interval> gaps_between(const std::vector<Interval>& united, Interval window);

// The instants that lie in the window.
std::vector<Interval> clipped(const std::vector<Interval>& united, Interval window);

Nanoseconds total_length(const std::vector<Interval>& united);

}  // namespace telltale
