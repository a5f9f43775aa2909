#include "formats/tell/clock.h"

#include <gtest/gtest.h>

#include <random>

namespace telltale::tell {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(ClockMap, goes_straight_from_one_reading_to_the_next_and_on_behind_them) {
  // 3 ticks a nanosecond, then 2.
  const ClockReading readings[] = {
      {3000, 100}, {3000 + 6 * kSecond, 100 + 2 * kSecond}, {3000 + 10 * kSecond, 100 + 4 * kSecond}};
  const ClockMap clock(readings, 1e9);
  EXPECT_EQ(clock(3000), 100);
  EXPECT_EQ(clock(3000 + 300), 200);
  EXPECT_EQ(clock(3000 + 3 * kSecond), 100 + kSecond);
  EXPECT_EQ(clock(3000 + 6 * kSecond), 100 + 2 * kSecond);
  EXPECT_EQ(clock(3000 + 8 * kSecond), 100 + 3 * kSecond);
  EXPECT_EQ(clock(3000 + 12 * kSecond), 100 + 5 * kSecond);
  EXPECT_EQ(clock(0), 100 - 1000);
}

TEST(ClockMap, trusts_no_slope_between_readings_less_than_a_second_apart) {
  // The second one is off by a millisecond; between the first and the last the clock is exact.
  const ClockReading readings[] = {{0, 0}, {100'000'000, 101'000'000}, {kSecond, kSecond}};
  EXPECT_EQ(ClockMap(readings, 1e9)(500'000'000), 500'000'000);
  // The one before the last is too near to it.
  const ClockReading late[] = {{0, 0}, {2 * kSecond, 2 * kSecond}, {2 * kSecond + 10, 2 * kSecond + 500}};
  EXPECT_EQ(ClockMap(late, 1e9)(2 * kSecond + 10), 2 * kSecond + 500);
  EXPECT_NEAR(static_cast<double>(*ClockMap(late, 1e9)(kSecond)), 1e9 + 245, 2);
}

TEST(ClockMap, uses_what_there_is_when_a_run_is_shorter_than_a_second) {
  const ClockReading readings[] = {{1000, 50}, {3000, 1050}};
  EXPECT_EQ(ClockMap(readings, 1e9)(2000), 550);
}

TEST(ClockMap, takes_the_rate_it_is_told_when_one_reading_is_all) {
  const ClockReading only[] = {{1000, 50}};
  EXPECT_EQ(ClockMap(only, 2e9)(1000 + 4000), 50 + 2000);
  EXPECT_EQ(ClockMap(only, 4e8)(1000 + 4000), 50 + 10000);
  EXPECT_EQ(ClockMap({}, 1e9)(123), 123);
}

TEST(ClockMap, ignores_readings_that_go_backwards) {
  const ClockReading readings[] = {
      {0, 0}, {2 * kSecond, 2 * kSecond}, {kSecond, 9 * kSecond}, {5 * kSecond, kSecond}, {4 * kSecond, 4 * kSecond}};
  const ClockMap clock(readings, 1e9);
  EXPECT_EQ(clock(3 * kSecond), 3 * kSecond);
}

TEST(ClockMap, never_lets_a_later_time_come_out_earlier) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<ClockReading> readings;
    std::uint64_t ticks = random() % 1000;
    std::int64_t time = 0;
    for (int i = 0; i < 6; ++i) {
      readings.push_back({ticks, time});
      ticks += 1 + random() % (3u * kSecond);
      time += static_cast<std::int64_t>(1 + random() % (2u * kSecond));
    }
    const ClockMap clock(readings, 1e9);
    std::optional<Nanoseconds> last;
    for (std::uint64_t at = 0; at < ticks; at += 1 + ticks / 997) {
      const auto now = clock(at);
      ASSERT_TRUE(now);
      EXPECT_LE(last.value_or(*now), *now);
      last = now;
    }
    for (const ClockReading& reading : readings) EXPECT_LE(*clock(reading.from - 1), *clock(reading.from));
  }
}

TEST(ClockMap, knows_no_time_beyond_those_that_clocks_show) {
  const ClockReading readings[] = {{0, 0}, {2, 8}};
  EXPECT_EQ(ClockMap(readings, 1e9)(UINT64_MAX), std::nullopt);
  EXPECT_EQ(ClockMap({}, 1e9)(UINT64_MAX), std::nullopt);
  EXPECT_EQ(ClockMap({}, 0)(5), 5);  // a rate that is none
}

}  // namespace
}  // namespace telltale::tell
