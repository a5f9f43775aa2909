#include "trace/device_clock.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

std::optional<DeviceClock> clock_told(std::string text) {
  Trace trace;
  trace.metadata.emplace_back("device_clock", std::move(text));
  return device_clock(trace);
}

TEST(DeviceClock, is_what_the_recorder_measured) {
  const auto clock = clock_told(R"({"samples":12,"drift_ppm":-0.25,"residual_ns":410,"shifted_ns":0})");
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->samples, 12u);
  EXPECT_EQ(clock->drift_ppm, -0.25);
  EXPECT_EQ(clock->residual_ns, 410);
}

TEST(DeviceClock, is_unknown_where_nothing_sensible_is_told) {
  EXPECT_FALSE(device_clock(Trace()));
  for (const char* text :
       {"", "{", "[]", "12", R"({"samples":1})", R"({"samples":1,"drift_ppm":0,"residual_ns":"410"})",
        R"({"samples":1,"drift_ppm":0,"residual_ns":-1})", R"({"samples":1,"drift_ppm":0,"residual_ns":1e30})"})
    EXPECT_FALSE(clock_told(text)) << text;
}

}  // namespace
}  // namespace telltale
