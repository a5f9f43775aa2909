#include "replay/what_if.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr Nanoseconds kMicrosecond = 1'000;
constexpr Nanoseconds kStep = 100 * kMicrosecond;
constexpr int kSteps = 3;

// Three steps of 100 µs, drawn by a function from the step's beginning.
template <typename Draw>
Trace three_steps(Draw draw) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = step * kStep;
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), begin, begin + kStep);
    draw(
        [&](Kind kind, std::string_view name, Nanoseconds from, Nanoseconds to) {
          return sketch.event(thread, kind, name, begin + from * kMicrosecond, begin + to * kMicrosecond);
        },
        [&](TraceSketch::Handle launch, Nanoseconds from, Nanoseconds to) {
          sketch.work(stream, Kind::kKernel, "gemm", begin + from * kMicrosecond, begin + to * kMicrosecond, launch);
        });
  }
  return sketch.build();
}

// The host works all the time: 30 µs in the loader, 30 in an operator that launches 5 µs of device work, 20 in Python,
// 20 in an operator that has another one within.
Trace host_bound() {
  return three_steps([](auto call, auto kernel) {
    call(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 30);
    call(Kind::kOperator, "aten::add", 30, 60);
    kernel(call(Kind::kRuntime, "cudaLaunchKernel", 40, 50), 50, 55);
    call(Kind::kPython, "train.py(7): log", 60, 80);
    call(Kind::kOperator, "aten::to", 80, 100);
    call(Kind::kOperator, "aten::_to_copy", 85, 95);
  });
}

// 10 µs to launch 60 µs of device work, a wait that ends 2 µs behind it, and 28 µs of Python.
Trace with_a_wait() {
  return three_steps([](auto call, auto kernel) {
    kernel(call(Kind::kRuntime, "cudaLaunchKernel", 0, 10), 10, 70);
    call(Kind::kRuntime, "cudaStreamSynchronize", 10, 72);
    call(Kind::kPython, "train.py(7): log", 72, 100);
  });
}

Changes pattern(std::string_view name, double factor, std::optional<Kind> kind = {}) {
  Changes changes;
  changes.patterns.push_back({{kind, std::string(name)}, factor});
  return changes;
}

double microseconds_after(const Trace& trace, const Changes& changes) {
  return static_cast<double>(what_if(trace, changes).after.period) / kMicrosecond;
}

TEST(WhatIf, replays_unchanged_steps_as_they_were_recorded) {
  for (const Trace& trace : {host_bound(), with_a_wait()}) {
    const WhatIf answer = what_if(trace, {});
    EXPECT_EQ(answer.recorded, kStep);
    EXPECT_EQ(answer.before.period, kStep);
    EXPECT_EQ(answer.after.period, kStep);
    EXPECT_EQ(answer.saved(), 0);
  }
}

TEST(WhatIf, removes_a_call_with_what_it_calls_and_the_work_launched_within) {
  const WhatIf answer = what_if(host_bound(), pattern("aten::add", 0));
  EXPECT_EQ(answer.after.period, 70 * kMicrosecond);
  EXPECT_EQ(answer.before.device_busy, 5 * kMicrosecond);
  EXPECT_EQ(answer.after.device_busy, 0);
  EXPECT_DOUBLE_EQ(answer.saved_percent(), 30);
  ASSERT_EQ(answer.reach.size(), 1U);
  EXPECT_EQ(answer.reach[0].calls, kSteps);
  EXPECT_EQ(answer.reach[0].device_work, kSteps);
}

TEST(WhatIf, scales_a_call_that_is_matched_within_a_matched_one_only_once) {
  const WhatIf answer = what_if(host_bound(), pattern("aten::*to*", 0.5));
  EXPECT_EQ(answer.after.period, 90 * kMicrosecond);
  EXPECT_EQ(answer.reach[0].calls, 2 * kSteps);
}

TEST(WhatIf, gains_nothing_from_device_work_that_the_host_hides) {
  EXPECT_DOUBLE_EQ(microseconds_after(host_bound(), pattern("gemm", 0, Kind::kKernel)), 100);
  EXPECT_DOUBLE_EQ(microseconds_after(host_bound(), pattern("gemm", 2, Kind::kKernel)), 100);
  EXPECT_EQ(what_if(host_bound(), {}).bottleneck(), Bottleneck::kBusyHost);
}

TEST(WhatIf, can_make_a_step_longer) {
  const WhatIf answer = what_if(host_bound(), pattern("*log", 2, Kind::kPython));
  EXPECT_EQ(answer.after.period, 120 * kMicrosecond);
  EXPECT_EQ(answer.saved(), -20 * kMicrosecond);
}

TEST(WhatIf, combines_several_changes) {
  Changes changes = pattern("aten::add", 0);
  changes.patterns.push_back({{{}, "aten::to"}, 0.5});
  changes.patterns.push_back({{{}, "aten::_to_copy"}, 0.5});  // of 10 µs that are 5 already
  changes.has_instant_data = true;
  const WhatIf answer = what_if(host_bound(), changes);
  EXPECT_EQ(answer.after.period, (100 - 30 - 10 - 2.5 - 30) * kMicrosecond);
  EXPECT_EQ(answer.data.calls, kSteps);
}

TEST(WhatIf, counts_no_match_where_there_is_none) {
  const WhatIf answer = what_if(host_bound(), pattern("aten::mm", 0));
  EXPECT_EQ(answer.reach[0].calls, 0);
  EXPECT_EQ(answer.reach[0].device_work, 0);
  EXPECT_EQ(answer.saved(), 0);
}

// The device then starts a kernel 1 µs behind the last one, and the host, with 10 + 2 + 28 µs, runs ahead of it.
TEST(WhatIf, lets_the_host_run_ahead_when_nothing_waits) {
  Changes changes;
  changes.drops_waits = true;
  const WhatIf answer = what_if(with_a_wait(), changes);
  EXPECT_EQ(answer.after.period, 61 * kMicrosecond);
  EXPECT_EQ(answer.after.host_busy, 40 * kMicrosecond);
  EXPECT_EQ(answer.waits.calls, kSteps);
  EXPECT_EQ(WhatIf::bottleneck_of(answer.before), Bottleneck::kNeither);
  EXPECT_EQ(answer.bottleneck(), Bottleneck::kBusyDevice);
}

TEST(WhatIf, shortens_a_wait_with_the_work_that_it_waits_for) {
  EXPECT_DOUBLE_EQ(microseconds_after(with_a_wait(), pattern("gemm", 0.5)), 70);
  EXPECT_DOUBLE_EQ(microseconds_after(with_a_wait(), pattern("gemm", 0)), 40);
}

// A graph's launch costs 30 µs; the loader stays, and Python, operators and launches go.
TEST(WhatIf, runs_steps_as_graphs) {
  Changes changes;
  changes.runs_as_graph = true;
  const WhatIf answer = what_if(host_bound(), changes);
  EXPECT_EQ(answer.after.period, 60 * kMicrosecond);
  EXPECT_EQ(answer.graph.device_work, kSteps);
}

// Recording with stacks cost half of 100 µs, and 1 µs for each of three operators and the loader's annotation; of what
// is left, the loader has half of 30 µs less 1.
TEST(WhatIf, leaves_the_observer_out_of_both_sides_unless_it_is_the_only_change) {
  Changes changes;
  changes.leaves_out_observer = true;
  EXPECT_EQ(what_if(host_bound(), changes).before.period, 100 * kMicrosecond);
  EXPECT_EQ(what_if(host_bound(), changes).after.period, 46 * kMicrosecond);
  changes.has_instant_data = true;
  EXPECT_EQ(what_if(host_bound(), changes).before.period, 46 * kMicrosecond);
  EXPECT_EQ(what_if(host_bound(), changes).after.period, (46 - 14) * kMicrosecond);
}

TEST(WhatIf, looks_at_chosen_steps_only) {
  EXPECT_EQ(what_if(host_bound(), pattern("aten::add", 0), StepRange{1, 1}).reach[0].calls, 1);
}

TEST(WhatIf, has_an_answer_for_traces_with_nothing_in_them) {
  Changes changes = pattern("*", 0);
  changes.drops_waits = changes.has_instant_data = changes.runs_as_graph = changes.leaves_out_observer = true;
  EXPECT_EQ(what_if(Trace{}, changes).saved(), 0);
  EXPECT_EQ(what_if(Trace{}, changes).saved_percent(), 0);
  EXPECT_EQ(what_if(Trace{}, changes).bottleneck(), Bottleneck::kNeither);
}

}  // namespace
}  // namespace telltale
