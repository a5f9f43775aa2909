#include "base/intervals.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace telltale {
namespace {

constexpr Nanoseconds kHorizon = 60;

// The oracle: instants one by one.
std::set<Nanoseconds> instants(const std::vector<Interval>& intervals) {
  std::set<Nanoseconds> all;
  for (const Interval& interval : intervals)
    for (Nanoseconds at = interval.begin; at < interval.end; ++at) all.insert(at);
  return all;
}

class IntervalsAgainstInstants : public testing::Test {
 protected:
  std::vector<Interval> random_intervals() {
    std::uniform_int_distribution<Nanoseconds> begin(0, kHorizon), length(0, 9), count(0, 12);
    std::vector<Interval> intervals(static_cast<std::size_t>(count(random_)));
    for (Interval& interval : intervals) {
      interval.begin = begin(random_);
      interval.end = interval.begin + length(random_);
    }
    return intervals;
  }
  Interval random_window() {
    std::uniform_int_distribution<Nanoseconds> at(0, kHorizon);
    const Nanoseconds a = at(random_), b = at(random_);
    return {std::min(a, b), std::max(a, b)};
  }
  std::mt19937 random_{7};
};

TEST_F(IntervalsAgainstInstants, united_keeps_every_instant_once) {
  for (int round = 0; round < 500; ++round) {
    const std::vector<Interval> some = random_intervals();
    const std::vector<Interval> merged = united(some);
    EXPECT_EQ(instants(merged), instants(some));
    EXPECT_EQ(total_length(merged), static_cast<Nanoseconds>(instants(some).size()));
    for (std::size_t i = 1; i < merged.size(); ++i) EXPECT_LT(merged[i - 1].end, merged[i].begin);
  }
}

TEST_F(IntervalsAgainstInstants, clipped_and_gaps_divide_the_window) {
  for (int round = 0; round < 500; ++round) {
    const std::vector<Interval> merged = united(random_intervals());
    const Interval window = random_window();
    std::set<Nanoseconds> both = instants(clipped(merged, window));
    for (const Nanoseconds at : both) EXPECT_TRUE(instants(merged).contains(at));
    for (const Nanoseconds at : instants(gaps_between(merged, window))) EXPECT_TRUE(both.insert(at).second);
    EXPECT_EQ(both, instants({window}));
  }
}

TEST(Intervals, touching_intervals_become_one) { EXPECT_EQ(united({{3, 5}, {5, 9}}), (std::vector<Interval>{{3, 9}})); }

}  // namespace
}  // namespace telltale
