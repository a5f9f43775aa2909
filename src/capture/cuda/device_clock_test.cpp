#include "capture/cuda/device_clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace telltale::capture {
namespace {

// A device's clock that runs `ppm` too fast, against a recorder with 2.1 ticks a nanosecond.
struct Clocks {
  double ppm = 0;
  std::uint64_t host_ns = 1'000'000'000;

  ClockReading reading(std::int64_t error_ticks = 0) const {
    return {.device_ns = 1'790'000'000'000'000'000 + static_cast<std::uint64_t>(device_ns()),
            .host_ns = host_ns,
            .ticks = ticks() + static_cast<std::uint64_t>(error_ticks),
            .window_ticks = 420};
  }
  long double device_ns() const {
    return static_cast<long double>(host_ns) * (1 + static_cast<long double>(ppm) / 1e6L);
  }
  std::uint64_t ticks() const { return static_cast<std::uint64_t>(static_cast<long double>(host_ns) * 2.1L); }
};

void expect_near(std::uint64_t actual, std::uint64_t expected, std::int64_t most) {
  EXPECT_LE(std::abs(static_cast<std::int64_t>(actual - expected)), most) << actual << " and " << expected;
}

TEST(DeviceClock, FollowsADeviceThatDrifts) {
  DeviceClock clock;
  Clocks clocks{.ppm = 80};
  for (int i = 0; i < 200; ++i) {
    clock.add(clocks.reading());
    clocks.host_ns += 100'000'000;
  }
  for (const std::int64_t back_ns : {150'000'000L, 250'000'001L, 5'000'000'000L}) {
    Clocks then = clocks;
    then.host_ns -= static_cast<std::uint64_t>(back_ns);
    expect_near(clock.ticks_at(then.reading().device_ns), then.ticks(), 2);
  }
  const DeviceClock::Quality quality = clock.quality();
  EXPECT_EQ(quality.readings, 200U);
  EXPECT_NEAR(quality.drift_ppm, 80, 0.01);
  EXPECT_EQ(quality.residual_ns, 100);  // half of the window, 210 of 2.1 ticks a nanosecond
  EXPECT_EQ(quality.shifted_ns, 0);
}

TEST(DeviceClock, ContinuesBehindTheLastReadingAndBeforeTheFirst) {
  DeviceClock clock;
  Clocks clocks;
  clock.add(clocks.reading());
  clocks.host_ns += 50'000'000;
  clock.add(clocks.reading());
  Clocks later = clocks, earlier = clocks;
  later.host_ns += 10'000'000;
  earlier.host_ns -= 90'000'000;
  expect_near(clock.ticks_at(later.reading().device_ns), later.ticks(), 2);
  expect_near(clock.ticks_at(earlier.reading().device_ns), earlier.ticks(), 2);
}

TEST(DeviceClock, TellsHowFarReadingsAreOff) {
  DeviceClock clock;
  Clocks clocks;
  for (int i = 0; i < 10; ++i) {
    clock.add(clocks.reading(i == 7 ? 2'100 : 0));  // a microsecond
    clocks.host_ns += 100'000'000;
  }
  EXPECT_GE(clock.quality().residual_ns, 990);
  EXPECT_LE(clock.quality().residual_ns, 1'200);
}

TEST(DeviceClock, StartsNoWorkBeforeItsLaunch) {
  DeviceClock clock;
  Clocks clocks;
  clock.add(clocks.reading());
  clocks.host_ns += 100'000'000;
  clock.add(clocks.reading());
  const std::uint64_t start = clock.ticks_at(clocks.reading().device_ns);
  EXPECT_EQ(clock.not_before(start, start - 5), start);
  EXPECT_EQ(clock.not_before(start, 0), start);
  // 3 µs too early: from now on all work is so much later.
  EXPECT_EQ(clock.not_before(start, start + 6'300), start + 6'300);
  expect_near(clock.ticks_at(clocks.reading().device_ns), start + 6'300, 0);
  EXPECT_EQ(clock.quality().shifted_ns, 3'000);
  // A tenth of a second is no matter of clocks.
  EXPECT_EQ(clock.not_before(start, start + 210'000'000), start);
  EXPECT_EQ(clock.quality().shifted_ns, 3'000);
}

TEST(DeviceClock, PlacesNothingBeforeItKnowsHowFastItRuns) {
  DeviceClock clock;
  Clocks clocks;
  EXPECT_FALSE(clock.can_place());
  clock.add(clocks.reading());
  EXPECT_FALSE(clock.can_place());
  clocks.host_ns += 100'000'000;
  clock.add(clocks.reading());
  EXPECT_TRUE(clock.can_place());
  clock.begin_anew();
  EXPECT_FALSE(clock.can_place());
  clocks.host_ns += 100'000'000;
  clock.add(clocks.reading());
  EXPECT_TRUE(clock.can_place());  // as fast as before
  const std::uint64_t now = clocks.reading().device_ns;
  clocks.host_ns += 50'000'000;
  expect_near(clock.ticks_at(now + 50'000'000), clocks.ticks(), 2);
}

TEST(DeviceClock, ForgetsWhatAClockSaidBeforeItWasSetBack) {
  DeviceClock clock;
  Clocks clocks;
  clock.add(clocks.reading());
  clocks.host_ns += 100'000'000;
  clock.add(clocks.reading());
  ClockReading set_back = clocks.reading();
  set_back.ticks += 210'000'000;
  set_back.device_ns -= 3'600'000'000'000;
  clock.add(set_back);
  EXPECT_EQ(clock.ticks_at(set_back.device_ns), set_back.ticks);
}

}  // namespace
}  // namespace telltale::capture
