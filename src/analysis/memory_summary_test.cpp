#include "analysis/memory_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// Steps of 100 ns each, the first one at 100.
struct Steps {
  TraceSketch sketch;
  TrackId main = sketch.thread("main");

  explicit Steps(int count) {
    for (int i = 1; i <= count; ++i)
      sketch.event(main, Kind::kAnnotation, "ProfilerStep#" + std::to_string(i), i * 100, (i + 1) * 100);
  }
  void change(Nanoseconds time, std::int64_t bytes, std::uint64_t address = 0, DeviceId device = 0) {
    sketch.allocate(main, time, bytes, device, address);
  }
  // As a recorder writes it that knows the totals.
  void change_with_totals(Nanoseconds time, std::int64_t bytes, std::int64_t allocated, std::int64_t reserved) {
    change(time, bytes);
    sketch.trace().memory.total_allocated.back() = allocated;
    sketch.trace().memory.total_reserved.back() = reserved;
  }
};

struct Summed {
  Trace trace;
  MemorySummary memory;
};
Summed summed(Steps& steps) {
  Trace trace = steps.sketch.build();
  const std::optional<MemorySummary> summary = memory_summary(trace, step_timing(trace));
  if (!summary) ADD_FAILURE() << "no summary";
  return {std::move(trace), summary.value_or(MemorySummary{})};
}

TEST(MemorySummary, describes_the_host_where_no_device_is_at_work) {
  Steps steps(2);
  steps.change(150, 64, 1, kHost);
  const MemorySummary memory = summed(steps).memory;
  EXPECT_EQ(memory.device, kHost);
  EXPECT_EQ(memory.peak_allocated, 64);
}

TEST(MemorySummary, there_is_none_without_memory_events_of_a_device_that_is_at_work) {
  Steps steps(2);
  steps.change(150, 64, 1, kHost);
  steps.sketch.event(steps.sketch.stream(0, 7), Kind::kKernel, "kernel", 120, 130);
  const Trace trace = steps.sketch.build();
  EXPECT_FALSE(memory_summary(trace, step_timing(trace)).has_value());
  const Trace empty;
  EXPECT_FALSE(memory_summary(empty, step_timing(empty)).has_value());
}

TEST(MemorySummary, takes_the_peak_and_the_minima_from_recorded_totals_within_the_steps) {
  Steps steps(2);
  steps.change_with_totals(50, 5000, 9000, 9500);  // before the steps: no peak of theirs
  steps.change_with_totals(90, -5000, 4000, 9500);
  steps.change_with_totals(110, 3000, 7000, 9500);
  steps.change_with_totals(150, -6000, 1000, 9800);
  steps.change_with_totals(220, 100, 1100, 9600);
  steps.change_with_totals(310, 8000, 9100, 9900);
  const MemorySummary memory = summed(steps).memory;

  EXPECT_EQ(memory.device, 0);
  EXPECT_EQ(memory.peak_allocated, 7000);
  EXPECT_EQ(memory.peak_time, 110);
  EXPECT_EQ(memory.reserved_at_peak, 9500);
  EXPECT_EQ(memory.peak_reserved, 9800);
  EXPECT_EQ(memory.step_minimum, (std::vector<std::int64_t>{1000, 1000}));
  EXPECT_EQ(memory.step_peak, (std::vector<std::int64_t>{7000, 1100}));
  EXPECT_EQ(memory.growth_per_step, std::nullopt);
}

TEST(MemorySummary, knows_from_the_first_event_what_was_allocated_before_it) {
  Steps steps(1);
  steps.change_with_totals(150, -400, 600, 2000);
  const MemorySummary memory = summed(steps).memory;
  EXPECT_EQ(memory.peak_allocated, 1000);
  EXPECT_EQ(memory.peak_time, 100);
  EXPECT_EQ(memory.step_minimum, (std::vector<std::int64_t>{600}));
}

TEST(MemorySummary, adds_up_sizes_where_totals_are_absent) {
  Steps steps(1);
  steps.change(110, -300, 1);  // was there before
  steps.change(120, 1000, 2);
  steps.change(130, -1000, 2);
  const MemorySummary memory = summed(steps).memory;
  EXPECT_EQ(memory.peak_allocated, 1000);
  EXPECT_EQ(memory.peak_reserved, 0);
  EXPECT_EQ(memory.step_minimum, (std::vector<std::int64_t>{0}));
  ASSERT_EQ(memory.curve.size(), 4);
  EXPECT_EQ(memory.curve[0].time, 100);
  EXPECT_EQ(memory.curve[0].allocated, 300);
}

TEST(MemorySummary, describes_the_device_with_the_largest_peak) {
  Steps steps(1);
  steps.change(110, 100, 1, 0);
  steps.change(120, 700, 1, 1);
  steps.change(130, 300, 1, 2);
  const MemorySummary memory = summed(steps).memory;
  EXPECT_EQ(memory.device, 1);
  EXPECT_EQ(memory.peak_allocated, 700);
}

TEST(MemorySummary, growth_is_the_median_of_all_slopes_of_the_minima) {
  Steps steps(4);
  // Minima 10, 30, 500, 70: slopes 20, 245, 20, 470, 20, -430, of which the middle ones are 20 and 20.
  steps.change_with_totals(100, 10, 10, 0);
  steps.change_with_totals(200, 20, 30, 0);
  steps.change_with_totals(300, 470, 500, 0);
  steps.change_with_totals(400, -430, 70, 0);
  const MemorySummary memory = summed(steps).memory;
  EXPECT_EQ(memory.step_minimum, (std::vector<std::int64_t>{10, 30, 500, 70}));
  ASSERT_TRUE(memory.growth_per_step.has_value());
  EXPECT_DOUBLE_EQ(*memory.growth_per_step, 20);
}

TEST(MemorySummary, growth_of_a_thousand_steps_is_that_of_the_line_they_lie_on) {
  Steps steps(1000);
  for (int i = 0; i < 1000; ++i) steps.change_with_totals(100 + i * 100, 24, (i + 1) * 24, 0);
  EXPECT_DOUBLE_EQ(summed(steps).memory.growth_per_step.value_or(0), 24);
}

TEST(MemorySummary, the_largest_allocation_is_freed_within_its_step) {
  Steps steps(2);
  steps.sketch.op(steps.main, "aten::_log_softmax", 120, 140);
  steps.sketch.op(steps.main, "aten::empty", 125, 135);
  steps.change(110, 5000, 1);  // lives on into the next step
  steps.change(130, 2000, 2);
  steps.change(150, 1000, 3);
  steps.change(160, -1000, 3);
  steps.change(190, -2000, 2);
  steps.change(210, -5000, 1);
  const auto [trace, memory] = summed(steps);
  EXPECT_EQ(memory.largest_allocation, 2000);
  ASSERT_NE(memory.largest_event, kNoEvent);
  EXPECT_EQ(trace.name(memory.largest_event), "aten::_log_softmax");
}

TEST(MemorySummary, survivors_tell_which_half_of_the_steps_left_them) {
  Steps steps(5);  // four before the last: two in each half
  std::uint64_t address = 0;
  const auto leave = [&](std::string_view op, int step, std::int64_t bytes) {
    const Nanoseconds time = 100 + step * 100 + static_cast<Nanoseconds>(10 * (++address % 9));
    steps.sketch.op(steps.main, op, time, time + 5);
    steps.change(time, bytes, address);
  };
  for (int step = 0; step < 5; ++step) leave("leak", step, 100);
  leave("warm-up", 0, 400);
  leave("newest", 3, 40);
  leave("late", 1, 30);
  leave("late", 2, 90);
  const auto [trace, memory] = summed(steps);
  std::map<std::string_view, double> share;
  for (const Survivor& survivor : memory.survivors) share[trace.name(survivor.op)] = survivor.early_share;
  EXPECT_EQ(share, (std::map<std::string_view, double>{{"leak", 0.5}, {"warm-up", 1}, {"newest", 0}, {"late", 0.25}}));
}

TEST(MemorySummary, survivors_live_at_the_end_and_come_from_a_step_before_the_last) {
  Steps steps(3);
  const auto allocate_in = [&](std::string_view op, Nanoseconds time, std::int64_t bytes, std::uint64_t address) {
    steps.sketch.op(steps.main, op, time, time + 5);
    steps.change(time, bytes, address);
  };
  allocate_in("warmup", 50, 9000, 1);
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds begin = 100 + i * 100;
    const auto address = static_cast<std::uint64_t>(10 * (i + 1));
    allocate_in("aten::mul", begin + 10, 40, address);  // kept for ever
    allocate_in("aten::mul", begin + 20, 60, address + 1);
    if (i > 0) steps.change(begin + 30, -800, address - 8);  // last step's gradient
    allocate_in("gradient", begin + 40, 800, address + 2);
  }
  allocate_in("state", 170, 500, 2);
  const auto [trace, memory] = summed(steps);

  ASSERT_EQ(memory.survivors.size(), 2);
  EXPECT_EQ(trace.name(memory.survivors[0].op), "state");
  EXPECT_EQ(memory.survivors[0].bytes, 500 / 2);
  EXPECT_EQ(memory.survivors[0].steps, 1);
  EXPECT_EQ(trace.name(memory.survivors[1].op), "aten::mul");
  EXPECT_EQ(trace.events.start[memory.survivors[1].op], 120);
  EXPECT_EQ(memory.survivors[1].bytes, 100);
  EXPECT_EQ(memory.survivors[1].count, 4);
  EXPECT_EQ(memory.survivors[1].steps, 2);
}

TEST(MemorySummary, what_is_freed_behind_the_steps_survives_them) {
  Steps steps(3);  // from 100 to 400
  steps.change(110, 40, 1);
  steps.change(120, 30, 2);
  steps.change(390, -30, 2);
  steps.change(450, -40, 1);
  const MemorySummary memory = summed(steps).memory;
  ASSERT_EQ(memory.survivors.size(), 1);
  EXPECT_EQ(memory.survivors[0].bytes, 40 / 2);
}

TEST(MemorySummary, memory_used_again_without_a_recorded_free_survives_once) {
  Steps steps(2);
  steps.change(110, 40, 1);
  steps.change(120, 30, 1);
  const MemorySummary memory = summed(steps).memory;
  ASSERT_EQ(memory.survivors.size(), 1);
  EXPECT_EQ(memory.survivors[0].bytes, 30);
}

TEST(MemorySummary, counts_calls_for_device_memory_once_and_only_within_the_steps) {
  Steps steps(2);
  const auto call = [&](Kind kind, std::string_view name, Nanoseconds start, Nanoseconds end) {
    steps.sketch.event(steps.main, kind, name, start, end);
  };
  steps.change(110, 1, 1);
  call(Kind::kRuntime, "cudaMalloc", 20, 80);
  call(Kind::kRuntime, "cudaMalloc", 110, 130);
  call(Kind::kDriver, "cuMemAlloc_v2", 112, 128);
  call(Kind::kDriver, "cuMemCreate", 140, 144);
  call(Kind::kDriver, "cuMemMap", 144, 150);
  call(Kind::kRuntime, "cudaFree", 210, 240);
  call(Kind::kRuntime, "cudaHostAlloc", 240, 260);
  call(Kind::kRuntime, "cudaMallocHost", 260, 280);
  call(Kind::kDriver, "cuMemcpyAsync", 280, 285);
  call(Kind::kRuntime, "cudaMemGetInfo", 285, 290);
  const MemorySummary memory = summed(steps).memory;
  EXPECT_DOUBLE_EQ(memory.device_allocations, 1);
  EXPECT_DOUBLE_EQ(memory.device_frees, 0.5);
  EXPECT_EQ(memory.allocator_call_ns, (20 + 4 + 6 + 30) / 2);
}

TEST(MemorySummary, a_long_curve_is_thinned_and_keeps_its_peak_and_its_order) {
  std::mt19937 random(3);
  Steps steps(1);
  steps.sketch.event(steps.main, Kind::kAnnotation, "ProfilerStep#2", 200, 1'000'000);
  std::int64_t allocated = 1'000'000;
  for (int i = 0; i < 9000; ++i) {
    const std::int64_t bytes = static_cast<std::int64_t>(random() % 1000) - 500;
    allocated += bytes;
    steps.change_with_totals(200 + i * 100, bytes, allocated, 0);
  }
  const auto [trace, memory] = summed(steps);
  EXPECT_LE(memory.curve.size(), 2000);
  EXPECT_GT(memory.curve.size(), 1000);
  EXPECT_TRUE(std::ranges::is_sorted(memory.curve, {}, &MemoryPoint::time));
  EXPECT_EQ(std::ranges::max(memory.curve, {}, &MemoryPoint::allocated).allocated,
            std::ranges::max(trace.memory.total_allocated));
  EXPECT_EQ(memory.curve.back().allocated, allocated);
}

}  // namespace
}  // namespace telltale
