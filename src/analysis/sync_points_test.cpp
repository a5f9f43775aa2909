#include "analysis/sync_points.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

struct OneStep {
  TraceSketch sketch;
  TrackId main = sketch.thread("main");
  TrackId stream = sketch.stream(0, 7);

  OneStep() { sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 1000); }
  TraceSketch::Handle call(std::string_view name, Nanoseconds start, Nanoseconds end, Kind kind = Kind::kRuntime) {
    return sketch.event(main, kind, name, start, end);
  }
  void copy(MemorySpace from, MemorySpace to, Nanoseconds start, Nanoseconds end, TraceSketch::Handle launch) {
    sketch.set_copy(sketch.work(stream, Kind::kMemcpy, "Memcpy", start, end, launch), {64, from, to});
  }
};

std::vector<SyncPoint> points_of(const Trace& trace, const StepBreakdown& breakdown = {}) {
  return sync_points(trace, step_timing(trace), breakdown);
}

TEST(SyncPoints, are_the_waiting_calls_of_the_steps_by_time) {
  OneStep step;
  const TrackId helper = step.sketch.thread("helper");
  step.call("cudaLaunchKernel", 10, 20);
  const auto late = step.call("cudaStreamSynchronize", 300, 450);
  const auto early = step.sketch.event(helper, Kind::kRuntime, "cudaEventSynchronize", 100, 130);
  step.call("cudaDeviceSynchronize", 2000, 2100);  // after the last step
  const Trace trace = step.sketch.build();
  const std::vector<SyncPoint> points = points_of(trace);

  ASSERT_EQ(points.size(), 2);
  EXPECT_EQ(points[0].call, step.sketch.id(early));
  EXPECT_EQ(points[0].waited, 30);
  EXPECT_EQ(points[0].op, kNoEvent);
  EXPECT_EQ(points[1].call, step.sketch.id(late));
  EXPECT_EQ(points[1].waited, 150);
}

TEST(SyncPoints, name_the_outermost_operator_of_those_directly_around_the_call) {
  OneStep step;
  step.sketch.op(step.main, "aten::outside", 0, 900);
  step.sketch.event(step.main, Kind::kModule, "nn.Module: Linear_0", 5, 800);
  const auto item = step.sketch.op(step.main, "aten::item", 10, 100);
  step.sketch.op(step.main, "aten::_local_scalar_dense", 20, 90);
  step.call("cudaStreamSynchronize", 30, 80);
  const Trace trace = step.sketch.build();
  const std::vector<SyncPoint> points = points_of(trace);
  ASSERT_EQ(points.size(), 1);
  EXPECT_EQ(points[0].op, step.sketch.id(item));
}

TEST(SyncPoints, a_call_outside_its_operator_knows_it_by_its_cause) {
  OneStep step;
  const TrackId helper = step.sketch.thread("helper");
  const auto op = step.sketch.op(helper, "aten::nonzero", 10, 100);
  const auto wait = step.call("cudaStreamSynchronize", 30, 80);
  step.sketch.set_cause(wait, op);
  const Trace trace = step.sketch.build();
  ASSERT_EQ(points_of(trace).size(), 1);
  EXPECT_EQ(points_of(trace)[0].op, step.sketch.id(op));
}

TEST(SyncPoints, add_up_the_idle_time_that_is_blamed_on_the_wait) {
  OneStep step;
  const auto first = step.call("cudaStreamSynchronize", 100, 200);
  const auto second = step.call("cudaStreamSynchronize", 500, 600);
  const Trace trace = step.sketch.build();
  StepBreakdown breakdown;
  breakdown.gaps = {{{190, 220}, HostWork::kSync, step.sketch.id(first), kNoEvent},
                    {{220, 250}, HostWork::kDataLoading, step.sketch.id(first), kNoEvent},
                    {{250, 255}, HostWork::kSync, step.sketch.id(first), kNoEvent},
                    {{590, 700}, HostWork::kSync, step.sketch.id(second), kNoEvent},
                    {{800, 900}, HostWork::kSync, kNoEvent, kNoEvent}};
  const std::vector<SyncPoint> points = points_of(trace, breakdown);
  ASSERT_EQ(points.size(), 2);
  EXPECT_EQ(points[0].idle_after, 30 + 5);
  EXPECT_EQ(points[1].idle_after, 110);
}

TEST(SyncPoints, a_wait_that_makes_the_drivers_wait_counts_once_with_the_idle_time_of_both) {
  OneStep step;
  const auto outer = step.call("cudaStreamSynchronize", 100, 200);
  const auto inner = step.call("cuStreamSynchronize", 105, 195, Kind::kDriver);
  const Trace trace = step.sketch.build();
  StepBreakdown breakdown;
  breakdown.gaps = {{{190, 195}, HostWork::kSync, step.sketch.id(inner), kNoEvent},
                    {{195, 220}, HostWork::kSync, step.sketch.id(outer), kNoEvent}};
  const std::vector<SyncPoint> points = points_of(trace, breakdown);
  ASSERT_EQ(points.size(), 1);
  EXPECT_EQ(points[0].call, step.sketch.id(outer));
  EXPECT_EQ(points[0].idle_after, 5 + 25);
}

TEST(SyncPoints, a_copy_of_pageable_memory_waits_when_it_runs_within_its_call) {
  constexpr auto kPageable = MemorySpace::kPageable, kPinned = MemorySpace::kPinned, kDevice = MemorySpace::kDevice;
  OneStep step;
  const auto blocking = step.call("cudaMemcpyAsync", 100, 200);
  step.copy(kPageable, kDevice, 110, 205, blocking);
  step.copy(kPageable, kDevice, 320, 330, step.call("cudaMemcpyAsync", 300, 310));  // small: only enqueued
  step.copy(kPinned, kDevice, 405, 409, step.call("cudaMemcpyAsync", 400, 410));
  const auto fetching = step.call("cudaMemcpyAsync", 500, 600);
  step.copy(kDevice, kPageable, 590, 595, fetching);
  step.copy(kDevice, kPageable, 710, 720, step.call("cudaGraphLaunch", 700, 800));
  const Trace trace = step.sketch.build();
  const std::vector<SyncPoint> points = points_of(trace);
  ASSERT_EQ(points.size(), 2);
  EXPECT_EQ(points[0].call, step.sketch.id(blocking));
  EXPECT_EQ(points[1].call, step.sketch.id(fetching));
}

TEST(SyncPoints, a_copy_that_waits_by_name_and_by_memory_counts_once) {
  OneStep step;
  step.copy(MemorySpace::kDevice, MemorySpace::kPageable, 150, 190, step.call("cudaMemcpy", 100, 200));
  EXPECT_EQ(points_of(step.sketch.build()).size(), 1);
}

TEST(SyncPoints, an_empty_trace_has_none) { EXPECT_TRUE(points_of(Trace{}).empty()); }

}  // namespace
}  // namespace telltale
