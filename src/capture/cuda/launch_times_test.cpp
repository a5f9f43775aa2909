#include "capture/cuda/launch_times.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

TEST(LaunchTimes, KeepTheNewest) {
  LaunchTimes launches;
  EXPECT_EQ(launches.of(1), 0U);
  for (std::uint64_t correlation = 1; correlation <= 200'000; ++correlation)
    launches.note(correlation, correlation * 10);
  for (std::uint64_t correlation = 100'000; correlation <= 200'000; ++correlation)
    EXPECT_EQ(launches.of(correlation), correlation * 10);
  EXPECT_EQ(launches.of(1), 0U);  // its place was needed
  EXPECT_EQ(launches.of(200'001), 0U);
}

TEST(LaunchTimes, TellWorkOfBeforeAllCallsByItsNumberAndItsTime) {
  LaunchTimes launches;
  EXPECT_TRUE(launches.is_before_all(100, 500));
  launches.note(7, 1000);
  launches.note(6, 990);  // of another thread, which was held up
  EXPECT_TRUE(launches.is_before_all(5, 989));
  EXPECT_FALSE(launches.is_before_all(5, 990));  // launched before, it ran later
  EXPECT_FALSE(launches.is_before_all(6, 900));  // by a clock that is behind
  launches.begin_anew();
  EXPECT_TRUE(launches.is_before_all(6, 990));
}

}  // namespace
}  // namespace telltale::capture
