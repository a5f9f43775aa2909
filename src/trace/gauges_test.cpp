#include "trace/gauges.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(Gauges, counter_is_called_after_its_device_and_known_again) {
  const auto gauge = gauge_of("GPU 3", "power (W)");
  ASSERT_TRUE(gauge);
  EXPECT_EQ(counter_name(*gauge), "GPU 3: power (W)");
  const auto again = gauge_called("GPU 3: power (W)");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->device, "GPU 3");
  EXPECT_EQ(again->device_id, 3);
  EXPECT_EQ(again->quantity, gauges::kPower);
}

TEST(Gauges, processors_and_devices_without_a_number_belong_to_no_device) {
  EXPECT_EQ(gauge_of("CPU", "energy (J)")->device_id, kHost);
  EXPECT_EQ(gauge_of("NVML GPU 1", "energy (J)")->device_id, kHost);
  EXPECT_EQ(gauge_called("NVML GPU 1: energy (J)")->device, "NVML GPU 1");
}

TEST(Gauges, other_counters_are_none) {
  EXPECT_FALSE(gauge_of("", "power (W)"));
  EXPECT_FALSE(gauge_of("GPU", "power (W)"));
  EXPECT_FALSE(gauge_of("GPU x", "power (W)"));
  EXPECT_FALSE(gauge_of("GPU -1", "power (W)"));
  EXPECT_FALSE(gauge_of("GPU 0", "queue depth"));
  EXPECT_FALSE(gauge_called("power (W)"));
  EXPECT_FALSE(gauge_called("server: requests"));
}

TEST(Gauges, steady_value_lies_on_the_line_between_two_readings) {
  Counters counters;
  counters.time = {0, 10, 20, 40};
  counters.value = {99, 1, 3, 7};
  const CounterSeries series{kEmptyString, kEmptyString, 0, 1, 3};
  EXPECT_EQ(steady_value_at(counters, series, 0), 1);
  EXPECT_EQ(steady_value_at(counters, series, 10), 1);
  EXPECT_EQ(steady_value_at(counters, series, 15), 2);
  EXPECT_EQ(steady_value_at(counters, series, 35), 6);
  EXPECT_EQ(steady_value_at(counters, series, 40), 7);
  EXPECT_EQ(steady_value_at(counters, series, 99), 7);
}

}  // namespace
}  // namespace telltale
