// From the recorder's ticks, or another clock that was read beside it, to CLOCK_MONOTONIC in nanoseconds.
//
// Pure and thread-safe once made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"

namespace telltale::tell {

// Two clocks read as one.
struct ClockReading {
  std::uint64_t from = 0;
  Nanoseconds to = 0;
};

// A straight line through each two neighboring readings, continued before the first and behind the last one. Later
// times never come out earlier.
class ClockMap {
 public:
  // Of readings that are close together, noise would make a slope: only the first, the last and those at least a second
  // apart are used, and of those the ones where both clocks go forward. With fewer than two, the clock is taken to tick
  // `ticks_per_second` times a second.
  ClockMap(std::span<const ClockReading> readings, double ticks_per_second);

  // Nothing for times beyond kFurthestTime, which no clock shows.
  std::optional<Nanoseconds> operator()(std::uint64_t time) const;

  // The year 2096: sums and differences of such times and of durations below it cannot overflow.
  static constexpr Nanoseconds kFurthestTime = 4'000'000'000'000'000'000;

 private:
  // to = start_to + (time − start_from) · slope
  struct Segment {
    std::uint64_t from = 0;
    Nanoseconds to = 0;
    std::uint64_t whole = 1, fraction = 0;  // of the slope; the fraction in units of 2⁻⁶⁴
  };
  std::vector<Segment> segments_;  // by `from`, at least one
};

}  // namespace telltale::tell
