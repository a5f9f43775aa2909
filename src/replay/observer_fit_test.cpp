#include "replay/observer_fit.h"

#include <gtest/gtest.h>

#include "analysis/testing/program_sketch.h"

namespace telltale {
namespace {

constexpr ObserverCost kGuess = {.python_call = 10'000, .operator_call = 0, .api_call = 0};

// Each step is ten calls of Python that take 90 µs each, 900 µs on the whole.
class ObserverFitTest : public testing::Test {
 protected:
  static Trace draw() {
    ProgramSketch program;
    for (int step = 0; step < 4; ++step) {
      program.begin_step();
      for (int i = 0; i < 10; ++i) program.run(Kind::kPython, "train.py(3): work", 90 * kMicrosecond);
    }
    return program.build();
  }

  Nanoseconds step(const ObserverFit& fit) const {
    Edit edit;
    edit.observer = fit.cost;
    return static_cast<Nanoseconds>(static_cast<double>(graph_.replay(edit).period) * fit.rest);
  }

  const Trace trace_ = draw();
  const StepTiming timing_ = step_timing(trace_);
  const StepGraph graph_{trace_, timing_, host_work_by_event(trace_)};
};

// Ten calls cost 10 µs each by the guess, which makes 800 µs of 900.
TEST_F(ObserverFitTest, a_step_shorter_than_the_recorded_one_tells_what_a_call_costs) {
  const ObserverFit half = fitted_to(graph_, kGuess, 850 * kMicrosecond);
  EXPECT_NEAR(half.cost.python_call, 5'000, 200);
  EXPECT_NEAR(half.rest, 1, 0.002);
  EXPECT_NEAR(static_cast<double>(step(half)), 850e3, 10);
  EXPECT_NEAR(fitted_to(graph_, kGuess, 700 * kMicrosecond).cost.python_call, 20'000, 300);
}

TEST_F(ObserverFitTest, what_no_cost_explains_makes_everything_shorter) {
  const ObserverFit fit = fitted_to(graph_, kGuess, 300 * kMicrosecond);
  EXPECT_DOUBLE_EQ(fit.cost.python_call, 40'000);
  EXPECT_LT(fit.rest, 1);
  EXPECT_NEAR(static_cast<double>(step(fit)), 300e3, 10);
}

TEST_F(ObserverFitTest, a_step_longer_than_the_recorded_one_makes_everything_longer) {
  const ObserverFit fit = fitted_to(graph_, kGuess, 990 * kMicrosecond);
  EXPECT_DOUBLE_EQ(fit.cost.python_call, 0);
  EXPECT_NEAR(fit.rest, 1.1, 1e-6);
}

// Ten kernels of 200 µs, launched by calls of Python of 90: what those cost is hidden behind the device.
TEST_F(ObserverFitTest, what_is_hidden_behind_the_device_costs_what_is_guessed) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    for (int i = 0; i < 10; ++i) {
      program.run(Kind::kPython, "train.py(3): work", 90 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "kernel", 200 * kMicrosecond);
    }
  }
  const Trace trace = program.build();
  const StepTiming timing = step_timing(trace);
  const StepGraph graph(trace, timing, host_work_by_event(trace));
  const Nanoseconds recorded = graph.replay({}).period;
  for (const Nanoseconds measured : {recorded * 99 / 100, recorded, recorded * 101 / 100})
    EXPECT_NEAR(fitted_to(graph, kGuess, measured).cost.python_call, 10'000, 1'000) << measured;
}

// The device hides all that recording costs: 3, 15 or 30 µs a call. Of its own, the host was seen to take so much less.
TEST_F(ObserverFitTest, a_host_that_ran_ahead_tells_what_is_hidden_behind_the_device) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    for (int i = 0; i < 10; ++i) {
      program.run(Kind::kPython, "train.py(3): work", 90 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "kernel", 200 * kMicrosecond);
    }
  }
  const Trace trace = program.build();
  const StepTiming timing = step_timing(trace);
  const StepGraph graph(trace, timing, host_work_by_event(trace));
  const ReplayedStep recorded = graph.replay({});
  for (const Nanoseconds cost : {3'000, 15'000, 30'000}) {
    const Nanoseconds host = recorded.host_busy - 10 * cost;
    EXPECT_NEAR(fitted_to(graph, kGuess, recorded.period, host).cost.python_call, static_cast<double>(cost), 1'000)
        << cost;
  }
}

TEST_F(ObserverFitTest, the_range_of_an_estimate_has_a_larger_and_a_smaller_cost) {
  const UnobservedRange range = unobserved_range(graph_, kGuess);
  EXPECT_LT(range.low, 800 * kMicrosecond);
  EXPECT_GT(range.high, 800 * kMicrosecond);
  EXPECT_LE(range.high, 900 * kMicrosecond);
  // Ten calls of 12.5 and of 7 µs, and 2 % for how runs differ.
  EXPECT_NEAR(static_cast<double>(range.low), 0.98 * 775e3, 10);
  EXPECT_NEAR(static_cast<double>(range.high), 1.02 * 830e3, 10);
}

}  // namespace
}  // namespace telltale
