#include "analysis/energy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000, kTenth = kSecond / 10;

// Readings of a gauge ten times a second, from time 0 on.
template <typename Value>
void read(TraceSketch& sketch, const std::string& counter, int readings, Value value) {
  for (int i = 0; i < readings; ++i) sketch.count(counter, i * kTenth, value(i));
}

constexpr StepLengths both_are(Nanoseconds step) { return {step, step}; }

GaugedDevice only_device(const Trace& trace, Interval window, Nanoseconds step = kTenth) {
  const auto use = energy_use(trace, window, both_are(step), {});
  EXPECT_TRUE(use.has_value());
  EXPECT_EQ(use->devices.size(), 1U);
  return use->devices.front();
}

TEST(EnergyUse, is_not_there_without_gauges) {
  TraceSketch sketch;
  sketch.count("queue depth", 0, 1);
  EXPECT_FALSE(energy_use(sketch.build(), {0, kSecond}, both_are(kTenth), {}));
}

// 300 W in the first second, 500 W in the second one: half of each is 400 W.
TEST(EnergyUse, of_a_step_is_what_the_counter_rises_by_in_its_time) {
  TraceSketch sketch;
  read(sketch, "GPU 0: energy (J)", 21, [](int i) { return i <= 10 ? 30.0 * i : 300 + 50.0 * (i - 10); });
  read(sketch, "GPU 0: power (W)", 21, [](int) { return 1.0; });
  const GaugedDevice device = only_device(sketch.build(), {kSecond / 2, 3 * kSecond / 2}, kSecond / 20);
  EXPECT_DOUBLE_EQ(device.watts.value(), 400);
  EXPECT_DOUBLE_EQ(device.joules_per_step.value(), 20);
  EXPECT_EQ(device.source, EnergySource::kCounter);
  EXPECT_EQ(device.readings, 11);
}

// 500 W for 25 ms and for 40.
TEST(EnergyUse, of_a_step_that_recording_made_longer_is_less_than_was_recorded) {
  TraceSketch sketch;
  for (const char* counter : {"GPU 0: energy (J)", "CPU: energy (J)"})
    read(sketch, counter, 21, [](int i) { return 50.0 * i; });
  const auto use =
      energy_use(sketch.build(), {0, 2 * kSecond}, StepLengths{kSecond / 40, kSecond / 25}, /*samples_per_step=*/5);
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->devices[0].joules_per_step.value(), 12.5);
  EXPECT_DOUBLE_EQ(use->devices[0].recorded_joules_per_step.value(), 20);
  EXPECT_DOUBLE_EQ(use->joules_per_step.value(), 25);
  EXPECT_DOUBLE_EQ(use->recorded_joules_per_step.value(), 40);
  EXPECT_DOUBLE_EQ(use->joules_per_sample().value(), 5);
}

// The means of the four seconds are 150, 250, 250 and 150 W.
TEST(EnergyUse, is_power_added_up_where_nothing_counts_it) {
  TraceSketch sketch;
  const double watts[] = {100, 200, 300, 200, 100};
  for (int i = 0; i < 5; ++i) sketch.count("GPU 0: power (W)", i * kSecond, watts[i]);
  const GaugedDevice device = only_device(sketch.build(), {0, 4 * kSecond}, kSecond);
  EXPECT_DOUBLE_EQ(device.watts.value(), 200);
  EXPECT_EQ(device.source, EnergySource::kPower);
}

// Somebody else's, who writes counters as they are: what it showed before is not known.
TEST(EnergyUse, is_that_of_the_power_where_the_counter_begins_anew) {
  TraceSketch sketch;
  read(sketch, "GPU 0: energy (J)", 21, [](int i) { return i < 10 ? 9000 + 30.0 * i : 30.0 * i; });
  read(sketch, "GPU 0: power (W)", 21, [](int) { return 300.0; });
  read(sketch, "CPU: energy (J)", 21, [](int i) { return i < 10 ? 100 + 30.0 * i : 30.0 * i; });
  const auto use = energy_use(sketch.build(), {0, 2 * kSecond}, both_are(kTenth), {});
  ASSERT_TRUE(use);
  ASSERT_EQ(use->devices.size(), 2U);
  EXPECT_EQ(use->devices[0].source, EnergySource::kPower);
  EXPECT_DOUBLE_EQ(use->devices[0].watts.value(), 300);
  EXPECT_FALSE(use->devices[1].watts);
  EXPECT_DOUBLE_EQ(use->joules_per_step.value(), 30);
}

// The device's power swings; both ways to its energy agree with an integral in steps of a tenth of a millisecond.
TEST(EnergyUse, counter_and_power_agree_with_an_integral) {
  const auto watts = [](double seconds) { return 400 + 200 * std::sin(3 * seconds); };
  const auto joules = [&](double from, double to) {
    double sum = 0;
    for (int i = 0; i < static_cast<int>((to - from) * 1e4); ++i) sum += watts(from + (i + 0.5) / 1e4) / 1e4;
    return sum;
  };
  const Interval window{7 * kTenth + 12'345, 52 * kTenth};
  const double expected = joules(0.7, 5.2) / 4.5;
  for (const bool is_counted : {true, false}) {
    TraceSketch sketch;
    if (is_counted)
      read(sketch, "GPU 0: energy (J)", 60, [&](int i) { return joules(0, i / 10.0); });
    else
      read(sketch, "GPU 0: power (W)", 60, [&](int i) { return watts(i / 10.0); });
    EXPECT_NEAR(only_device(sketch.build(), window).watts.value(), expected, 0.002 * expected) << is_counted;
  }
}

TEST(EnergyUse, is_not_known_by_few_readings) {
  TraceSketch sketch;
  read(sketch, "GPU 0: energy (J)", 21, [](int i) { return 30.0 * i; });
  const Trace trace = sketch.build();
  const GaugedDevice device = only_device(trace, {kTenth, 4 * kTenth});
  EXPECT_EQ(device.readings, 4);
  EXPECT_FALSE(device.watts);
  EXPECT_FALSE(device.joules_per_step);
  EXPECT_TRUE(only_device(trace, {kTenth, 5 * kTenth}).watts);
}

TEST(EnergyUse, adds_up_what_the_program_uses) {
  TraceSketch sketch;
  const TrackId stream = sketch.stream(1, 7);
  sketch.event(stream, Kind::kKernel, "gemm", 0, kSecond);
  for (const auto& [name, watts] : {std::pair("GPU 0", 70.0), std::pair("GPU 1", 500.0), std::pair("CPU", 150.0)})
    read(sketch, std::string(name) + ": energy (J)", 11, [&](int i) { return watts * i / 10; });
  const auto use = energy_use(sketch.build(), {0, kSecond}, both_are(kSecond / 2), 16);
  ASSERT_TRUE(use);
  ASSERT_EQ(use->devices.size(), 3U);
  EXPECT_FALSE(use->devices[0].is_used);
  EXPECT_TRUE(use->devices[1].is_used);
  EXPECT_TRUE(use->devices[2].is_used);
  EXPECT_DOUBLE_EQ(use->joules_per_step.value(), 325);
  EXPECT_DOUBLE_EQ(use->joules_per_sample().value(), 325.0 / 16);
}

TEST(EnergyUse, of_a_trace_without_device_work_is_that_of_devices_that_are_not_idle) {
  TraceSketch sketch;
  for (const auto& [name, busy] : {std::pair("GPU 0", 0.0), std::pair("NVML GPU 1", 80.0)}) {
    read(sketch, std::string(name) + ": energy (J)", 11, [](int i) { return 10.0 * i; });
    read(sketch, std::string(name) + ": utilization (%)", 11, [&](int) { return busy; });
  }
  const auto use = energy_use(sketch.build(), {0, kSecond}, {}, {});
  ASSERT_TRUE(use);
  EXPECT_FALSE(use->devices[0].is_used);
  EXPECT_TRUE(use->devices[1].is_used);
  EXPECT_EQ(use->devices[1].utilization_percent, 80);
  EXPECT_FALSE(use->joules_per_step);  // there are no steps
}

TEST(EnergyUse, knows_the_limit_and_what_memory_is_never_in_use) {
  TraceSketch sketch;
  read(sketch, "GPU 0: energy (J)", 11, [](int i) { return 35.0 * i; });
  read(sketch, "GPU 0: power limit (W)", 11, [](int) { return 700.0; });
  read(sketch, "GPU 0: memory used (bytes)", 11, [](int i) { return i == 0 ? 9e9 : 2e9; });
  read(sketch, "GPU 0: memory total (bytes)", 11, [](int) { return 80e9; });
  const GaugedDevice device = only_device(sketch.build(), {kTenth, kSecond});
  EXPECT_DOUBLE_EQ(device.limit_percent().value(), 50);
  EXPECT_EQ(device.peak_memory_bytes, 9'000'000'000);  // before the steps counts, too
  EXPECT_EQ(device.memory_headroom(), 71'000'000'000);
}

// A second by power, another by temperature as well, two free, one idle; NVML's other bits mean nothing here.
TEST(EnergyUse, tells_for_how_long_and_why_a_device_is_throttled) {
  TraceSketch sketch;
  const double reasons[] = {0x4, 0x24, 0x2, 0x10, 0x1, 0x1};
  for (int i = 0; i < 6; ++i) sketch.count("GPU 0: throttle reasons", i * kSecond, reasons[i]);
  const GaugedDevice device = only_device(sketch.build(), {0, 5 * kSecond});
  EXPECT_DOUBLE_EQ(device.throttled_percent, 40);
  ASSERT_EQ(device.throttle_reasons.size(), 2U);
  EXPECT_EQ(device.throttle_reasons[0].name, "power limit");
  EXPECT_DOUBLE_EQ(device.throttle_reasons[0].percent, 40);
  EXPECT_EQ(device.throttle_reasons[1].name, "temperature");
  EXPECT_DOUBLE_EQ(device.throttle_reasons[1].percent, 20);
}

// Of 20 busy readings 5 are throttled; the idle ones, slow as they are, do not count.
TEST(EnergyUse, compares_clocks_of_a_busy_device_alone) {
  TraceSketch sketch;
  const auto is_busy = [](int i) { return i < 20; };
  const auto is_throttled = [](int i) { return i % 4 == 0; };
  read(sketch, "GPU 0: utilization (%)", 40, [&](int i) { return is_busy(i) ? 95.0 : 3.0; });
  read(sketch, "GPU 0: SM clock (MHz)", 40, [&](int i) { return !is_busy(i) ? 345.0 : is_throttled(i) ? 1485 : 1980; });
  read(sketch, "GPU 0: throttle reasons", 40, [&](int i) { return is_throttled(i) ? 0x4 : 0.0; });
  const GaugedDevice device = only_device(sketch.build(), {0, 4 * kSecond});
  ASSERT_TRUE(device.clock);
  EXPECT_DOUBLE_EQ(device.clock->throttled_mhz, 1485);
  EXPECT_DOUBLE_EQ(device.clock->free_mhz, 1980);
  EXPECT_DOUBLE_EQ(device.clock->throttled_percent, 25);
  EXPECT_DOUBLE_EQ(device.clock->lost_percent(), 25);
}

TEST(EnergyUse, says_nothing_of_clocks_with_nothing_to_compare) {
  for (const auto& [throttled, clock] : {std::pair(20, 1500.0), std::pair(4, 1500.0), std::pair(10, 1980.0)}) {
    TraceSketch sketch;
    read(sketch, "GPU 0: utilization (%)", 20, [](int) { return 95.0; });
    read(sketch, "GPU 0: SM clock (MHz)", 20, [&](int i) { return i < throttled ? clock : 1980; });
    read(sketch, "GPU 0: throttle reasons", 20, [&](int i) { return i < throttled ? 0x4 : 0.0; });
    EXPECT_FALSE(only_device(sketch.build(), {0, 2 * kSecond}).clock) << throttled;
  }
}

// 1,000 steps of 7.2 kJ are 2 kWh.
TEST(RunningCost, is_that_of_a_thousand_steps) {
  RunningCost cost = running_cost(7200, {.money = 0.3, .grams = 400});
  EXPECT_DOUBLE_EQ(cost.kilowatt_hours, 2);
  EXPECT_DOUBLE_EQ(cost.money().value(), 0.6);
  EXPECT_DOUBLE_EQ(cost.grams().value(), 800);
  EXPECT_FALSE(cost.saved_money());
  cost.saved_by = "host_sync";
  cost.saved_percent = 25;
  EXPECT_DOUBLE_EQ(cost.saved_money().value(), 0.15);
  EXPECT_DOUBLE_EQ(cost.saved_grams().value(), 200);
  EXPECT_FALSE(running_cost(7200, {.grams = 400}).money());
}

}  // namespace
}  // namespace telltale
