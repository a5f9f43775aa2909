#include "record/clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace telltale::record {
namespace {

TEST(Clock, runs_forward_and_at_the_speed_it_says) {
  choose_clock();
  const auto speed = static_cast<double>(ticks_per_second());
  const Calibration first = calibrate();
  const timespec rest{0, 20'000'000};
  nanosleep(&rest, nullptr);
  const Calibration second = calibrate();
  ASSERT_GT(second.ticks, first.ticks);
  const auto ns = static_cast<double>(second.monotonic_ns - first.monotonic_ns);
  const auto ticks = static_cast<double>(second.ticks - first.ticks);
  EXPECT_NEAR(ticks / speed * 1e9 / ns, 1, 0.01);
}

TEST(Clock, calibrations_read_all_clocks_at_one_moment) {
  choose_clock();
  const std::int64_t before = clock_ns(CLOCK_MONOTONIC), day_before = clock_ns(CLOCK_REALTIME);
  const Calibration calibration = calibrate();
  const std::int64_t after = clock_ns(CLOCK_MONOTONIC), day_after = clock_ns(CLOCK_REALTIME);
  EXPECT_GE(calibration.monotonic_ns, before);
  EXPECT_LE(calibration.monotonic_ns, after);
  EXPECT_GE(calibration.realtime_ns, day_before);
  EXPECT_LE(calibration.realtime_ns, day_after);
}

}  // namespace
}  // namespace telltale::record
