#include "capture/cuda/launch_times.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

TEST(LaunchTimes, KeepTheNewest) {
  LaunchTimes launches;
  EXPECT_EQ(launches.of(1), 0U);
  for (std::uint64_t correlation = 1; correlation <= 20'000; ++correlation)
    launches.note(correlation, correlation * 10);
  for (std::uint64_t correlation = 19'000; correlation <= 20'000; ++correlation)
    EXPECT_EQ(launches.of(correlation), correlation * 10);
  EXPECT_EQ(launches.of(1), 0U);  // its place was needed
  EXPECT_EQ(launches.of(20'001), 0U);
}

}  // namespace
}  // namespace telltale::capture
