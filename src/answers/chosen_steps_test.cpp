#include "answers/chosen_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/testing/trace_sketch.h"
#include "trace/own_recordings.h"

namespace telltale::answers {
namespace {

bool has(const std::optional<StepRange>& range, std::int64_t index) { return range && range->contains(index); }

TEST(StepRangeText, takes_one_step_and_ranges_with_both_ends_included) {
  EXPECT_TRUE(has(parsed_step_range("5"), 5));
  EXPECT_FALSE(has(parsed_step_range("5"), 6));
  EXPECT_TRUE(has(parsed_step_range("3..7"), 3));
  EXPECT_TRUE(has(parsed_step_range("3..7"), 7));
  EXPECT_FALSE(has(parsed_step_range("3..7"), 8));
}

TEST(StepRangeText, takes_ranges_that_are_open_on_one_side) {
  EXPECT_TRUE(has(parsed_step_range("3.."), 1'000'000));
  EXPECT_FALSE(has(parsed_step_range("3.."), 2));
  EXPECT_TRUE(has(parsed_step_range("..7"), 0));
  EXPECT_FALSE(has(parsed_step_range("..7"), 8));
}

TEST(StepRangeText, refuses_what_is_no_range) {
  for (const char* text : {"", "..", "7..3", "a", "3...7", "3-7", "-1", "3..7..9", "1.5"}) {
    EXPECT_EQ(parsed_step_range(text).has_value(), false) << text;
  }
}

Trace trace_with_steps(std::int64_t first, std::int64_t last, bool is_from_start = true) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (std::int64_t step = first; step <= last; ++step) {
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), step * 1000, step * 1000 + 900);
    sketch.op(thread, "aten::mm", step * 1000 + 10, step * 1000 + 800);
  }
  if (is_from_start) sketch.trace().metadata = {{std::string(kFromStart), "\"true\""}};
  return sketch.build();
}

TEST(SteadySteps, leave_out_the_first_two_of_a_recording_from_the_start) {
  const SteadySteps steps = steady_steps(trace_with_steps(0, 4), {});
  ASSERT_TRUE(steps.range);
  EXPECT_EQ(steps.range->first, 2);
  EXPECT_EQ(steps.remark, "The first 2 steps warm up and are left out; choose steps 0.. to include them.");
}

TEST(SteadySteps, leave_out_one_where_the_other_was_not_recorded) {
  const SteadySteps steps = steady_steps(trace_with_steps(1, 4), {});
  ASSERT_TRUE(steps.range);
  EXPECT_EQ(steps.remark, "The first step warms up and is left out; choose steps 0.. to include it.");
}

TEST(SteadySteps, are_all_steps_of_a_part_that_begins_later) {
  const SteadySteps steps = steady_steps(trace_with_steps(2, 9), {});
  EXPECT_FALSE(steps.range);
  EXPECT_EQ(steps.remark, "");
}

TEST(SteadySteps, leave_out_only_the_first_where_few_would_be_left) {
  for (const std::int64_t last : {1, 3}) {
    const SteadySteps steps = steady_steps(trace_with_steps(0, last), {});
    ASSERT_TRUE(steps.range);
    EXPECT_EQ(steps.range->first, 1);
    EXPECT_EQ(steps.remark, "The first step warms up and is left out; choose steps 0.. to include it.");
  }
  EXPECT_FALSE(steady_steps(trace_with_steps(0, 0), {}).range);
}

TEST(SteadySteps, do_not_count_what_comes_before_the_first_as_one) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.trace().metadata = {{std::string(kFromStart), "\"true\""}};
  sketch.event(thread, Kind::kAnnotation, "ProfilerStep#0", 0, 1000);
  sketch.op(thread, "aten::uniform_", 900, 950);
  for (Nanoseconds step = 1; step < 7; ++step) {
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), step * 1000, step * 1000 + 1000);
    sketch.op(thread, "aten::mm", step * 1000 + 10, step * 1000 + 800);
  }
  const SteadySteps steps = steady_steps(sketch.build(), {});
  ASSERT_TRUE(steps.range);
  EXPECT_EQ(steps.range->first, 3);
  EXPECT_EQ(steps.remark, "The first 2 steps warm up and are left out; choose steps 0.. to include them.");
}

TEST(SteadySteps, leave_out_the_first_two_passes_of_a_program_that_marks_none) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.trace().metadata = {{std::string(kFromStart), "\"true\""}};
  for (Nanoseconds pass = 0; pass < 8; ++pass)
    sketch.event(thread, Kind::kModule, "nn.Module: Net_0", pass * 1000, pass * 1000 + 900);
  const SteadySteps steps = steady_steps(sketch.build(), {});
  ASSERT_TRUE(steps.range);
  EXPECT_EQ(steps.range->first, 2);
}

TEST(SteadySteps, are_all_steps_of_a_trace_that_says_nothing_about_its_start) {
  const SteadySteps steps = steady_steps(trace_with_steps(0, 9, false), {});
  EXPECT_FALSE(steps.range);
  EXPECT_EQ(steps.remark, "");
}

TEST(SteadySteps, are_those_that_were_chosen) {
  const auto choice = parsed_choice("0..1", Spelling::kFlags);
  ASSERT_TRUE(choice);
  const SteadySteps steps = steady_steps(trace_with_steps(0, 9), *choice);
  ASSERT_TRUE(steps.range);
  EXPECT_EQ(steps.range->first, 0);
  EXPECT_EQ(steps.range->last, 1);
  EXPECT_EQ(steps.remark, "");
}

StepTiming timing_of(const std::vector<Nanoseconds>& durations) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  Nanoseconds now = 0;
  for (std::size_t i = 0; i < durations.size(); now += durations[i++])
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", i + 4), now, now + durations[i]);
  return step_timing(sketch.build());
}

TEST(LeftOutSteps, are_told_with_what_they_take) {
  EXPECT_EQ(remark_on_left_out(timing_of({10, 10, 10, 10})), "");
  EXPECT_EQ(remark_on_left_out(timing_of({500, 10, 10, 10})),
            "Step 4 takes 500 ns where others take 10 ns, and is left out; choose steps 4..7 to include it.");
  EXPECT_EQ(
      remark_on_left_out(timing_of({500, 300, 10, 10, 10, 10})),
      "Steps 4 and 5 take 500 ns and 300 ns where others take 10 ns, and are left out; choose steps 4..9 to include "
      "them.");
}

TEST(LeftOutSteps, are_told_in_short_where_there_are_many) {
  std::vector<Nanoseconds> durations(20, 10);
  for (std::size_t i = 0; i < 5; ++i) durations[i] = 500 - 10 * static_cast<Nanoseconds>(i);
  EXPECT_EQ(remark_on_left_out(timing_of(durations)),
            "5 steps from 4 to 8 take 460 ns to 500 ns where others take 10 ns, and are left out; choose steps 4..23 "
            "to include them.");
}

// Four launches a step; the recorder is gone when so many kernels are done.
StepTiming timing_of_recording(int steps, int kernels_done) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  for (int step = 0; step < steps; ++step) {
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), 100 * step, 100 * step + 100);
    for (int launch = 0; launch < 4; ++launch) {
      const Nanoseconds at = 100 * step + 20 * launch;
      const auto call = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", at, at + 5);
      if (kernels_done-- > 0) sketch.work(stream, Kind::kKernel, "gemm", 2 * at + 10, 2 * at + 45, call);
    }
  }
  return step_timing(sketch.build());
}

TEST(LeftOutSteps, are_those_whose_work_was_not_recorded) {
  EXPECT_EQ(remark_on_left_out(timing_of_recording(4, 16)), "");
  EXPECT_EQ(remark_on_left_out(timing_of_recording(4, 14)),
            "The recording ended before the GPU had done the work of the last step, which is left out.");
  EXPECT_EQ(remark_on_left_out(timing_of_recording(4, 10)),
            "The recording ended before the GPU had done the work of the last 2 steps, which are left out.");
}

TEST(LeftOutSteps, part_those_that_count_from_the_rest) {
  EXPECT_EQ(
      remark_on_left_out(timing_of({10, 10, 500, 10, 10, 10})),
      "Step 6 takes 500 ns where others take 10 ns, and is left out; choose steps 4..9 to include it. Only steps 7 to "
      "9 count, the longest run without a pause or an outlier.");
}

}  // namespace
}  // namespace telltale::answers
