#include "analysis/copy_summary.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr Nanoseconds kUs = 1'000;

// Two steps of 10 ms, with a thread and two streams of device 0.
struct TwoSteps {
  TraceSketch sketch;
  TrackId main = sketch.thread("main");
  TrackId stream = sketch.stream(0, 7), other_stream = sketch.stream(0, 8);

  TwoSteps() {
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 10'000 * kUs);
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#2", 10'000 * kUs, 20'000 * kUs);
  }
  TraceSketch::Handle call(std::string_view name, Nanoseconds start, Nanoseconds end) {
    return sketch.event(main, Kind::kRuntime, name, start, end);
  }
  TraceSketch::Handle copy(CopyInfo info, Nanoseconds start, Nanoseconds end, TraceSketch::Handle launch) {
    const TraceSketch::Handle copy = sketch.work(stream, Kind::kMemcpy, "Memcpy", start, end, launch);
    sketch.set_copy(copy, info);
    return copy;
  }
  CopySummary summary() {
    const Trace trace = sketch.build();
    return copy_summary(trace, step_timing(trace));
  }
};

constexpr CopyInfo kPageableIn = {1'000'000, MemorySpace::kPageable, MemorySpace::kDevice};
constexpr CopyInfo kPinnedIn = {500'000, MemorySpace::kPinned, MemorySpace::kDevice};
constexpr CopyInfo kOut = {4, MemorySpace::kDevice, MemorySpace::kPinned};
constexpr CopyInfo kWithin = {2'000, MemorySpace::kDevice, MemorySpace::kDevice};

TEST(CopySummary, tells_the_direction_and_pageability_of_each_copy_and_averages_over_steps) {
  TwoSteps steps;
  steps.copy(kPageableIn, 100 * kUs, 200 * kUs, steps.call("cudaMemcpyAsync", 90 * kUs, 100 * kUs));
  steps.copy(kPageableIn, 10'100 * kUs, 10'400 * kUs, steps.call("cudaMemcpyAsync", 10'090 * kUs, 10'100 * kUs));
  steps.copy(kPinnedIn, 500 * kUs, 550 * kUs, steps.call("cudaMemcpyAsync", 480 * kUs, 490 * kUs));
  steps.copy(kOut, 600 * kUs, 602 * kUs, steps.call("cudaMemcpyAsync", 580 * kUs, 590 * kUs));
  steps.copy(kWithin, 700 * kUs, 701 * kUs, steps.call("cudaMemcpyAsync", 680 * kUs, 690 * kUs));
  const CopySummary summary = steps.summary();

  ASSERT_EQ(summary.calls.size(), 5);
  ASSERT_EQ(summary.rows.size(), 4);
  const CopyRow& pinned = summary.rows[0];
  EXPECT_EQ(pinned.direction, CopyDirection::kHostToDevice);
  EXPECT_FALSE(pinned.is_pageable);
  EXPECT_DOUBLE_EQ(pinned.calls, 0.5);
  EXPECT_DOUBLE_EQ(pinned.bytes, 250'000);
  EXPECT_EQ(pinned.duration_ns, 25 * kUs);
  EXPECT_DOUBLE_EQ(pinned.bytes_per_second, 500'000 / 50e-6);

  const CopyRow& pageable = summary.rows[1];
  EXPECT_EQ(pageable.direction, CopyDirection::kHostToDevice);
  EXPECT_TRUE(pageable.is_pageable);
  EXPECT_DOUBLE_EQ(pageable.calls, 1);
  EXPECT_EQ(pageable.duration_ns, 200 * kUs);
  EXPECT_EQ(pageable.exposed_ns, 200 * kUs);
  EXPECT_DOUBLE_EQ(pageable.bytes_per_second, 2'000'000 / 400e-6);

  EXPECT_EQ(summary.rows[2].direction, CopyDirection::kDeviceToHost);
  EXPECT_EQ(summary.rows[3].direction, CopyDirection::kDeviceToDevice);
}

TEST(CopySummary, leaves_out_fills_and_what_no_step_launched) {
  TwoSteps steps;
  const TraceSketch::Handle fill =
      steps.sketch.work(steps.stream, Kind::kMemset, "Memset", 10, 20, steps.call("cudaMemsetAsync", 1, 2));
  steps.sketch.set_copy(fill, {64, MemorySpace::kUnknown, MemorySpace::kDevice});
  steps.copy(kWithin, 30, 40, steps.call("cudaMemcpyAsync", 30'000 * kUs, 30'001 * kUs));
  steps.sketch.event(steps.stream, Kind::kMemcpy, "Memcpy", 50, 60);
  const CopySummary summary = steps.summary();
  EXPECT_TRUE(summary.calls.empty());
  EXPECT_TRUE(summary.rows.empty());
}

TEST(CopySummary, a_copy_of_unknown_kind_and_size_counts_without_a_bandwidth) {
  TwoSteps steps;
  steps.sketch.work(steps.stream, Kind::kMemcpy, "Memcpy", 10, 30, steps.call("cudaMemcpyAsync", 1, 2));
  const CopySummary summary = steps.summary();
  ASSERT_EQ(summary.rows.size(), 1);
  EXPECT_EQ(summary.rows[0].direction, CopyDirection::kOther);
  EXPECT_EQ(summary.rows[0].bytes, 0);
  EXPECT_EQ(summary.rows[0].bytes_per_second, 0);
  EXPECT_EQ(summary.rows[0].duration_ns, 10);
}

TEST(CopySummary, a_copy_is_exposed_while_nothing_else_runs_on_its_device) {
  TwoSteps steps;
  const TrackId elsewhere = steps.sketch.stream(1, 7);
  const auto launch = steps.call("cudaLaunchKernel", 1, 2);
  steps.copy(kPinnedIn, 1'000, 2'000, steps.call("cudaMemcpyAsync", 3, 4));
  steps.sketch.work(steps.other_stream, Kind::kKernel, "k", 900, 1'100, launch);
  steps.sketch.work(steps.other_stream, Kind::kKernel, "k", 1'400, 1'500, launch);
  steps.sketch.work(steps.other_stream, Kind::kKernel, "k", 1'450, 1'500, launch);
  steps.sketch.work(elsewhere, Kind::kKernel, "k", 1'000, 2'000, launch);
  const CopySummary summary = steps.summary();
  ASSERT_EQ(summary.calls.size(), 1);
  EXPECT_EQ(summary.calls[0].exposed, 1'000 - 100 - 100);
}

TEST(CopySummary, exposed_time_agrees_with_asking_every_instant) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    TwoSteps steps;
    const auto launch = steps.call("cudaMemcpyAsync", 1, 2);
    std::vector<Interval> works;
    for (int i = 0; i < 12; ++i) {
      const auto begin = static_cast<Nanoseconds>(random() % 60);
      const auto end = begin + static_cast<Nanoseconds>(random() % 15);
      const TrackId stream = random() % 2 == 0 ? steps.stream : steps.other_stream;
      steps.sketch.work(stream, random() % 2 == 0 ? Kind::kMemcpy : Kind::kKernel, "w", begin, end, launch);
      works.push_back({begin, end});
    }
    const Trace trace = steps.sketch.build();
    for (const CopyCall& call : copy_summary(trace, step_timing(trace)).calls) {
      Nanoseconds alone = 0;
      for (Nanoseconds at = trace.events.start[call.event]; at < trace.events.end(call.event); ++at)
        alone +=
            std::ranges::count_if(works, [&](const Interval& work) { return work.begin <= at && at < work.end; }) == 1;
      EXPECT_EQ(call.exposed, alone);
    }
  }
}

TEST(CopySummary, the_host_is_blocked_by_the_call_beyond_its_enqueueing_and_by_the_wait_behind_it) {
  TwoSteps steps;
  steps.sketch.op(steps.main, "aten::copy_", 0, 500 * kUs);
  const auto blocking = steps.call("cudaMemcpyAsync", 10 * kUs, 240 * kUs);
  steps.sketch.event(steps.main, Kind::kDriver, "cuMemcpyAsync", 11 * kUs, 239 * kUs);
  const auto wait = steps.call("cudaStreamSynchronize", 241 * kUs, 261 * kUs);
  steps.copy(kPageableIn, 20 * kUs, 230 * kUs, blocking);
  const CopySummary summary = steps.summary();
  ASSERT_EQ(summary.calls.size(), 1);
  EXPECT_EQ(summary.calls[0].wait, steps.sketch.id(wait));
  EXPECT_EQ(summary.calls[0].host_blocked, (230 - 30 + 20) * kUs);
  EXPECT_EQ(summary.rows[0].host_blocked_ns, 110 * kUs);
}

TEST(CopySummary, a_wait_of_another_operator_or_behind_other_work_is_not_the_copys) {
  TwoSteps steps;
  steps.sketch.op(steps.main, "aten::copy_", 0, 20 * kUs);
  steps.copy(kPinnedIn, 20 * kUs, 25 * kUs, steps.call("cudaMemcpyAsync", 1 * kUs, 5 * kUs));
  steps.call("cudaStreamSynchronize", 30 * kUs, 60 * kUs);
  steps.sketch.op(steps.main, "aten::add", 100 * kUs, 200 * kUs);
  steps.copy(kPinnedIn, 120 * kUs, 125 * kUs, steps.call("cudaMemcpyAsync", 101 * kUs, 105 * kUs));
  steps.call("cudaLaunchKernel", 106 * kUs, 110 * kUs);
  steps.call("cudaStreamSynchronize", 130 * kUs, 160 * kUs);
  const CopySummary summary = steps.summary();
  ASSERT_EQ(summary.calls.size(), 2);
  EXPECT_EQ(summary.calls[0].host_blocked, 0);
  EXPECT_EQ(summary.calls[1].host_blocked, 0);
  EXPECT_EQ(summary.calls[1].wait, kNoEvent);
}

TEST(CopySummary, the_launch_of_a_graph_is_not_the_wait_of_its_copies) {
  TwoSteps steps;
  steps.copy(kWithin, 2'100 * kUs, 2'200 * kUs, steps.call("cudaGraphLaunch", 0, 2'000 * kUs));
  EXPECT_EQ(steps.summary().calls.at(0).host_blocked, 0);
}

TEST(CopySummary, an_empty_trace_has_no_copies) {
  const Trace trace;
  EXPECT_TRUE(copy_summary(trace, step_timing(trace)).rows.empty());
}

}  // namespace
}  // namespace telltale
