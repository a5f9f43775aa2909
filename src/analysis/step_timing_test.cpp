#include "analysis/step_timing.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

struct Program {
  TraceSketch sketch;
  TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);

  void mark(int number, Nanoseconds start, Nanoseconds end) {
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#" + std::to_string(number), start, end);
  }
  TraceSketch::Handle launch(Nanoseconds called, Nanoseconds start, Nanoseconds end) {
    const auto call = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", called, called + 1);
    return sketch.work(stream, Kind::kKernel, "gemm", start, end, call);
  }
};

std::vector<Interval> host_spans(const StepTiming& timing) {
  std::vector<Interval> spans;
  for (const StepSpan& step : timing.steps) spans.push_back(step.host);
  return spans;
}

TEST(StepTiming, takes_the_marks_where_there_are_any) {
  Program program;
  program.mark(7, 100, 200);
  program.mark(8, 200, 320);
  program.mark(9, 320, 400);
  for (const Nanoseconds at : {150, 250, 350})
    program.sketch.event(program.main, Kind::kAnnotation, "Optimizer.step#SGD.step", at, at + 10);
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.source, StepSource::kMarks);
  EXPECT_EQ(host_spans(timing), (std::vector<Interval>{{100, 200}, {200, 320}, {320, 400}}));
  EXPECT_EQ(timing.steps[2].index, 9);
  EXPECT_EQ(timing.host_period, 100);
  EXPECT_EQ(timing.device_period, 0);
  EXPECT_EQ(timing.median, 100);
  EXPECT_EQ(timing.window, (Interval{100, 400}));
  EXPECT_EQ(timing.periods, 3);
  EXPECT_EQ(timing.period(), 100);
}

TEST(StepTiming, takes_only_the_steps_that_are_asked_for_and_none_when_there_are_none_of_them) {
  Program program;
  for (int step = 0; step < 5; ++step) program.mark(step, 100 * step, 100 * step + 100);
  const Trace trace = program.sketch.build();
  EXPECT_EQ(host_spans(step_timing(trace, StepRange{1, 2}).value()), (std::vector<Interval>{{100, 200}, {200, 300}}));
  EXPECT_EQ(step_timing(trace, std::optional<StepRange>()).value().steps.size(), 5);
  EXPECT_FALSE(step_timing(trace, StepRange{10, 12}).has_value());
}

TEST(StepTiming, takes_steps_that_are_asked_for_where_none_is_marked) {
  Program program;
  for (const Nanoseconds at : {80, 180, 280, 380})
    program.sketch.event(program.main, Kind::kAnnotation, "Optimizer.step#AdamW.step", at, at + 20);
  const Trace trace = program.sketch.build();
  EXPECT_EQ(step_timing(trace).source, StepSource::kOptimizer);
  EXPECT_EQ(host_spans(step_timing(trace, StepRange{1, 2}).value()), (std::vector<Interval>{{200, 300}, {300, 400}}));
  EXPECT_FALSE(step_timing(trace, StepRange{3, 3}).has_value());
}

TEST(StepTiming, has_no_step_to_choose_where_the_whole_trace_is_one) {
  Program program;
  program.launch(10, 20, 30);
  const Trace trace = program.sketch.build();
  EXPECT_EQ(step_timing(trace).source, StepSource::kWhole);
  EXPECT_FALSE(step_timing(trace, StepRange{0, 0}).has_value());
}

// The numbers of those that count, and of the others with a star where they are outliers.
std::string which(const StepTiming& timing) {
  std::string text;
  for (const StepSpan& step : timing.steps) text += std::to_string(step.index) + ' ';
  text += '|';
  for (const StepSpan& step : timing.left_out) text += ' ' + std::to_string(step.index) + (step.is_outlier ? "*" : "");
  return text;
}

// Marks that follow one another.
Program steps_of(const std::vector<Nanoseconds>& durations) {
  Program program;
  Nanoseconds now = 0;
  for (std::size_t i = 0; i < durations.size(); now += durations[i++])
    program.mark(static_cast<int>(i), now, now + durations[i]);
  return program;
}

TEST(StepTiming, leaves_out_a_step_that_warms_up) {
  const Trace trace = steps_of({519, 7, 6, 7, 6, 7}).sketch.build();
  const StepTiming timing = step_timing(trace);
  EXPECT_EQ(which(timing), "1 2 3 4 5 | 0*");
  EXPECT_EQ(timing.window, (Interval{519, 552}));
  EXPECT_EQ(timing.host_period, 33 / 5);
  EXPECT_EQ(timing.median, 7);
  EXPECT_EQ(all_steps(timing).size(), 6);
  EXPECT_EQ(all_steps(timing).front().index, 0);
  EXPECT_FALSE(all_steps(timing).front().is_counted);
}

TEST(StepTiming, leaves_nothing_out_of_a_range_that_was_asked_for) {
  const Trace trace = steps_of({519, 7, 6, 7, 6, 7}).sketch.build();
  EXPECT_EQ(which(step_timing(trace, StepRange{0, 3, true}).value()), "0 1 2 3 |");
  EXPECT_EQ(which(step_timing(trace, StepRange{0, 3}).value()), "1 2 3 | 0*");
}

TEST(StepTiming, is_about_the_longest_run_without_an_outlier) {
  EXPECT_EQ(which(step_timing(steps_of({10, 10, 90, 10, 10, 10}).sketch.build())), "3 4 5 | 0 1 2*");
  EXPECT_EQ(which(step_timing(steps_of({10, 90, 10}).sketch.build())), "2 | 0 1*");
}

TEST(StepTiming, keeps_long_steps_that_come_at_equal_distances) {
  const StepTiming timing = step_timing(steps_of({10, 10, 10, 50, 10, 10, 10, 50, 10, 10, 10, 50}).sketch.build());
  EXPECT_EQ(timing.left_out.size(), 0);
  EXPECT_EQ(timing.host_period, 20);
}

TEST(StepTiming, keeps_steps_in_which_an_epoch_starts_its_workers) {
  // Long ones at unequal distances, of which two begin an epoch: at 20 and 90.
  Program program = steps_of({10, 10, 40, 10, 10, 10, 40, 10, 10, 10, 10, 10, 10});
  for (const Nanoseconds at : {20, 90})
    program.sketch.event(program.main, Kind::kAnnotation, "DataLoader.__iter__", at, at + 30);
  EXPECT_EQ(step_timing(program.sketch.build()).left_out.size(), 0);
  Program other = steps_of({10, 10, 40, 10, 10, 10, 40, 10, 10, 10, 10, 10, 10});
  EXPECT_EQ(which(step_timing(other.sketch.build())), "7 8 9 10 11 12 | 0 1 2* 3 4 5 6*");
}

TEST(StepTiming, leaves_out_a_last_mark_in_which_the_recording_ended) {
  Program program;
  program.mark(0, 0, 100);
  program.launch(10, 20, 60);
  program.mark(1, 100, 103);
  EXPECT_EQ(which(step_timing(program.sketch.build())), "0 | 1*");
}

TEST(StepTiming, is_about_the_longest_run_without_a_pause) {
  Program program;
  for (const int step : {0, 1, 2, 10, 11, 12, 13, 20})
    program.sketch.event(program.main, Kind::kAnnotation, "step[DECODE bs=8]", 100 * step, 100 * step + 90);
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(which(timing), "3 4 5 6 | 0 1 2 7");
  EXPECT_EQ(timing.window, (Interval{1000, 1390}));
}

TEST(StepTiming, an_empty_trace_is_one_step_of_no_length) {
  const StepTiming timing = step_timing(TraceSketch().build());
  EXPECT_EQ(timing.source, StepSource::kWhole);
  ASSERT_EQ(timing.steps.size(), 1);
  EXPECT_EQ(timing.period(), 0);
  EXPECT_EQ(timing.median, 0);
}

TEST(StepTiming, marks_without_a_duration_do_no_harm) {
  Program program;
  program.mark(1, 100, 100);
  program.mark(2, 100, 100);
  program.launch(50, 60, 90);
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.steps.size(), 2);
  EXPECT_EQ(timing.period(), 0);
  EXPECT_EQ(timing.device_period, 0);
}

// Three steps of 100 on the host that launch 150 of work each: the device falls behind.
Program running_ahead() {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.mark(step, 100 * step, 100 * step + 100);
    program.launch(100 * step + 10, 20 + 160 * step, 20 + 160 * step + 100);
    program.launch(100 * step + 20, 20 + 160 * step + 105, 20 + 160 * step + 155);
  }
  return program;
}

TEST(StepTiming, takes_the_devices_period_where_the_host_runs_ahead) {
  const StepTiming timing = step_timing(running_ahead().sketch.build());
  EXPECT_EQ(timing.host_period, 100);
  EXPECT_EQ(timing.device_period, 150);
  EXPECT_EQ(timing.median, 150);
  EXPECT_EQ(timing.window, (Interval{20, 20 + 2 * 160}));
  EXPECT_EQ(timing.periods, 2);
  EXPECT_EQ(timing.period(), 160);
  EXPECT_EQ(timing.steps[1].device, (Interval{180, 335}));
  EXPECT_EQ(timing.steps[1].device_busy, 150);
}

TEST(StepTiming, takes_the_hosts_period_where_the_device_keeps_up) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.mark(step, 100 * step, 100 * step + 100);
    program.launch(100 * step + 10, 100 * step + 30, 100 * step + 120);
  }
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.device_period, 90);
  EXPECT_EQ(timing.window, (Interval{0, 300}));
  EXPECT_EQ(timing.period(), 100);
}

// Marks of 108, 108 and 102 on a device that needs 100: each step waits for work of the one before, the first for work
// that was launched before the recording.
TEST(StepTiming, takes_the_devices_period_where_it_stays_behind_the_host) {
  Program program;
  program.mark(0, 0, 108);
  program.mark(1, 108, 216);
  program.mark(2, 216, 318);
  for (int step = 0; step < 3; ++step) {
    program.launch(108 * step + 1, 80 + 100 * step, 175 + 100 * step);
    program.sketch.event(program.main, Kind::kRuntime, "cudaStreamSynchronize", 108 * step + 10, 108 * step + 70);
  }
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.host_period, 106);
  EXPECT_EQ(timing.device_period, 95);
  EXPECT_EQ(timing.steps[0].backlog, 79);
  EXPECT_EQ(timing.window, (Interval{80, 280}));
  EXPECT_EQ(timing.period(), 100);
}

// The same without waits: the host itself is slower than the device, which has not caught up yet.
TEST(StepTiming, takes_the_hosts_period_where_a_device_behind_it_is_faster) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.mark(step, 106 * step, 106 * step + 106);
    program.launch(106 * step + 1, 80 + 100 * step, 175 + 100 * step);
  }
  EXPECT_EQ(step_timing(program.sketch.build()).period(), 106);
}

TEST(StepTiming, one_step_that_outlasts_its_mark_is_as_long_as_its_work) {
  Program program;
  program.mark(0, 0, 100);
  program.launch(10, 20, 220);
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.window, (Interval{20, 220}));
  EXPECT_EQ(timing.period(), 200);
}

TEST(StepTiming, steps_without_device_work_do_not_set_the_ends_of_the_window) {
  Program program;
  for (int step = 0; step < 5; ++step) program.mark(step, 100 * step, 100 * step + 100);
  for (int step = 1; step < 4; ++step) program.launch(100 * step + 10, 500 * step, 500 * step + 490);
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.device_period, 3 * 490 / 5);
  EXPECT_EQ(timing.window, (Interval{500, 1500}));
  EXPECT_EQ(timing.periods, 2);
}

TEST(StepTiming, a_single_step_with_work_among_several_is_shared_by_all) {
  Program program;
  for (int step = 0; step < 4; ++step) program.mark(step, 100 * step, 100 * step + 100);
  program.launch(110, 150, 1150);
  const StepTiming timing = step_timing(program.sketch.build(), StepRange{.is_asked_for = true}).value();
  EXPECT_EQ(timing.window, (Interval{150, 1150}));
  EXPECT_EQ(timing.period(), 250);
}

TEST(StepTiming, work_without_a_launch_belongs_to_no_step) {
  Program program;
  program.mark(0, 0, 100);
  program.sketch.event(program.stream, Kind::kKernel, "launched before", 5, 95);
  program.launch(10, 95, 99);
  program.launch(150, 160, 170);  // after the last step
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.steps[0].device_busy, 4);
  EXPECT_EQ(timing.steps[0].device, (Interval{95, 99}));
}

TEST(StepTiming, work_counts_for_the_step_that_launched_it_and_each_instant_once) {
  Program program;
  const TrackId other = program.sketch.stream(0, 8);
  program.mark(0, 0, 100);
  program.mark(1, 100, 200);
  program.launch(90, 110, 150);
  const auto call = program.sketch.event(program.main, Kind::kRuntime, "cudaLaunchKernel", 95, 96);
  program.sketch.work(other, Kind::kKernel, "gemm", 140, 160, call);
  program.launch(100, 170, 175);
  const StepTiming timing = step_timing(program.sketch.build());
  EXPECT_EQ(timing.steps[0].device_busy, 50);
  EXPECT_EQ(timing.steps[1].device_busy, 5);
}

// Brute force: each step's instants, one by one.
TEST(StepTiming, device_time_agrees_with_every_single_instant) {
  std::mt19937 random(9);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 200; ++round) {
    Program program;
    const std::array streams = {program.stream, program.sketch.stream(0, 8)};
    for (int step = 0; step < 3; ++step) program.mark(step, 40 * step, 40 * step + 40);
    std::array<std::set<Nanoseconds>, 3> instants;
    for (int i = 0; i < 12; ++i) {
      const Nanoseconds called = pick(0, 130), start = pick(0, 200), end = start + pick(0, 20);
      const auto call = program.sketch.event(program.main, Kind::kRuntime, "cudaLaunchKernel", called, called + 1);
      program.sketch.work(streams[static_cast<std::size_t>(pick(0, 1))], Kind::kKernel, "gemm", start, end, call);
      for (Nanoseconds at = start; called < 120 && at < end; ++at)
        instants[static_cast<std::size_t>(called / 40)].insert(at);
    }
    const StepTiming timing = step_timing(program.sketch.build(), StepRange{.is_asked_for = true}).value();
    std::set<Nanoseconds> of_all_steps;
    for (std::size_t step = 0; step < 3; ++step) {
      ASSERT_EQ(timing.steps[step].device_busy, static_cast<Nanoseconds>(instants[step].size()));
      of_all_steps.insert(instants[step].begin(), instants[step].end());
      if (!instants[step].empty()) {
        ASSERT_EQ(timing.steps[step].device.begin, *instants[step].begin());
        ASSERT_EQ(timing.steps[step].device.end, *instants[step].rbegin() + 1);
      }
    }
    ASSERT_EQ(timing.device_period, static_cast<Nanoseconds>(of_all_steps.size() / 3));
    ASSERT_EQ(timing.host_period, 40);
    ASSERT_GT(timing.window.length(), 0);
    ASSERT_TRUE(timing.device_period > 40 || timing.period() == 40);
  }
}

TEST(StepAt, a_step_has_its_beginning_and_not_its_end) {
  Program program;
  program.mark(0, 100, 200);
  program.mark(1, 200, 300);
  program.mark(2, 450, 500);  // behind a pause
  const StepTiming timing = step_timing(program.sketch.build(), StepRange{.is_asked_for = true}).value();
  EXPECT_EQ(step_at(timing, 99), -1);
  EXPECT_EQ(step_at(timing, 100), 0);
  EXPECT_EQ(step_at(timing, 199), 0);
  EXPECT_EQ(step_at(timing, 200), 1);
  EXPECT_EQ(step_at(timing, 300), -1);
  EXPECT_EQ(step_at(timing, 450), 2);
  EXPECT_EQ(step_at(timing, 500), -1);
}

TEST(IsInSteps, device_work_is_where_its_launch_is) {
  Program program;
  program.mark(0, 100, 200);
  const auto late = program.launch(150, 500, 510), before = program.launch(50, 120, 130);
  const auto unknown = program.sketch.event(program.stream, Kind::kKernel, "launched before", 160, 165);
  const Trace trace = program.sketch.build();
  const StepTiming timing = step_timing(trace);
  EXPECT_TRUE(is_in_steps(trace, timing, program.sketch.id(late)));
  EXPECT_FALSE(is_in_steps(trace, timing, program.sketch.id(before)));
  EXPECT_FALSE(is_in_steps(trace, timing, program.sketch.id(unknown)));
  EXPECT_TRUE(is_in_steps(trace, timing, trace.launch_of(program.sketch.id(late))));
}

}  // namespace
}  // namespace telltale
