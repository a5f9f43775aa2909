#include "timeline/compact_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace telltale {
namespace {

TEST(CompactTimes, give_back_what_was_put_in) {
  std::mt19937_64 random(6);
  CompactTimes times;
  CompactDurations durations;
  std::vector<Nanoseconds> expected_times, expected_durations;
  Nanoseconds at = -5;
  for (int i = 0; i < 3000; ++i) {
    const auto step = static_cast<Nanoseconds>(random() >> (random() % 40 == 0 ? 25 : 50));  // some of minutes
    at += step;
    times.push_back(at);
    durations.push_back(step);
    expected_times.push_back(at);
    expected_durations.push_back(step);
  }
  for (const Nanoseconds edge : {Nanoseconds{UINT32_MAX} - 1, Nanoseconds{UINT32_MAX}, Nanoseconds{UINT32_MAX} + 1}) {
    durations.push_back(edge);
    expected_durations.push_back(edge);
  }
  for (std::size_t i = 0; i < expected_times.size(); ++i) EXPECT_EQ(times[i], expected_times[i]);
  ASSERT_EQ(durations.size(), expected_durations.size());
  for (std::size_t i = 0; i < durations.size(); ++i) EXPECT_EQ(durations[i], expected_durations[i]);
  for (int i = 0; i < 500; ++i) {
    const Nanoseconds time =
        expected_times[random() % expected_times.size()] + static_cast<Nanoseconds>(random() % 3) - 1;
    const auto found = std::ranges::lower_bound(expected_times, time) - expected_times.begin();
    EXPECT_EQ(times.first_from(time), static_cast<std::size_t>(found));
  }
}

TEST(CompactTimes, take_half_the_room) {
  CompactTimes times;
  for (Nanoseconds i = 0; i < 100'000; ++i) times.push_back(i * 1000);
  times.shrink_to_fit();
  EXPECT_LE(times.memory_bytes(), 100'000U * 9 / 2);
}

}  // namespace
}  // namespace telltale
