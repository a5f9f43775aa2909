#include "replay/step_graph.h"

#include <gtest/gtest.h>

#include <utility>

#include "analysis/testing/long_queue.h"
#include "replay/testing/replayed_program.h"

namespace telltale {
namespace {

using Handle = TraceSketch::Handle;
using Program = ReplayedProgram;

// A step: 5 µs to launch a kernel of 300 µs, a wait for it that ends 2 µs behind it, and 100 µs of Python.
struct WaitingProgram : Program {
  std::vector<Handle> kernels, waits, calls;

  explicit WaitingProgram(Nanoseconds python = 100 * kMicrosecond) {
    for (int step = 0; step < 3; ++step) {
      begin_step();
      kernels.push_back(kernel(300 * kMicrosecond));
      waits.push_back(wait());
      calls.push_back(run(Kind::kPython, "train.py(3): log", python));
    }
  }
};

TEST(StepGraph, is_without_what_the_recorder_took_for_itself_when_nothing_is_observed) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(3): prepare", 900 * kMicrosecond);
    program.run(Kind::kOverhead, "CUPTI start", 200 * kMicrosecond);
    program.spend(100 * kMicrosecond);
  }
  EXPECT_EQ(program.replayed().period, 1200 * kMicrosecond);
  const auto unobserved = program.replayed([](const Trace&, Edit& edit) { edit.observer.api_call = 1; });
  EXPECT_EQ(unobserved.period, 1000 * kMicrosecond);
}

// Each step launches one kernel and asks four times for something else: 1 µs for each of the five calls, and 10 µs more
// for the launch.
TEST(StepGraph, takes_out_what_recording_adds_to_launches_alone) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(3): prepare", 900 * kMicrosecond);
    for (int i = 0; i < 4; ++i) program.run(Kind::kRuntime, "cudaGetDevice", 10 * kMicrosecond);
    program.launch("cudaLaunchKernel", Kind::kKernel, "kernel", 20 * kMicrosecond);
    program.run(Kind::kPython, "train.py(9): log", 55 * kMicrosecond);
  }
  EXPECT_EQ(program.replayed().period, 1000 * kMicrosecond);
  const auto unobserved = program.replayed([](const Trace&, Edit& edit) {
    edit.observer.api_call = 1'000;
    edit.observer.launch = 10'000;
  });
  EXPECT_EQ(unobserved.period, 985 * kMicrosecond);
}

TEST(StepGraph, replays_a_host_that_the_device_waits_for_as_it_was) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(3): prepare", 900 * kMicrosecond);
    program.kernel(50 * kMicrosecond);
    program.spend(95 * kMicrosecond);
  }
  const ReplayedStep step = program.replayed();
  EXPECT_EQ(step.period, 1000 * kMicrosecond);
  EXPECT_EQ(step.host_busy, 1000 * kMicrosecond);
  EXPECT_EQ(step.device_busy, 50 * kMicrosecond);
}

TEST(StepGraph, replays_a_device_that_falls_behind_as_it_was) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel(300 * kMicrosecond);
    program.spend(95 * kMicrosecond);
  }
  const ReplayedStep step = program.replayed();
  EXPECT_EQ(step.period, 301 * kMicrosecond);
  EXPECT_EQ(step.host_busy, 100 * kMicrosecond);
  EXPECT_EQ(step.device_busy, 300 * kMicrosecond);
}

TEST(StepGraph, replays_waits_as_they_were) {
  const ReplayedStep step = WaitingProgram().replayed();
  EXPECT_EQ(step.period, 407 * kMicrosecond);
  EXPECT_EQ(step.host_busy, (5 + 2 + 100) * kMicrosecond);
  EXPECT_EQ(step.device_busy, 300 * kMicrosecond);
}

TEST(StepGraph, without_the_wait_the_device_is_the_bottleneck_or_the_host_is) {
  for (const auto& [python, period] : {std::pair(100, 301), std::pair(400, 5 + 2 + 400)}) {
    WaitingProgram program(python * kMicrosecond);
    const auto edit = [&](const Trace& trace, Edit& change) {
      for (const Handle wait : program.waits) change.drop_wait(trace, program.id(wait));
    };
    EXPECT_EQ(program.replayed(edit).period, period * kMicrosecond);
  }
}

TEST(StepGraph, shorter_host_time_saves_what_nothing_hides) {
  WaitingProgram program;
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle call : program.calls) change.scale_event(trace, program.id(call), 0.25F);
  };
  EXPECT_EQ(program.replayed(edit).period, (307 + 25) * kMicrosecond);
}

TEST(StepGraph, shorter_host_time_saves_nothing_behind_the_device) {
  Program program;
  std::vector<Handle> calls;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel(300 * kMicrosecond);
    calls.push_back(program.run(Kind::kPython, "train.py(3): log", 95 * kMicrosecond));
  }
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle call : calls) change.scale_event(trace, program.id(call), 0);
  };
  EXPECT_EQ(program.replayed(edit).period, 301 * kMicrosecond);
}

TEST(StepGraph, a_factor_scales_an_events_own_time_and_not_that_of_what_it_contains) {
  Program program;
  Handle outer = 0;
  program.begin_step();
  outer = program.open(Kind::kPython, "train.py(3): prepare");
  program.spend(100 * kMicrosecond);
  program.run(Kind::kOperator, "aten::sort", 60 * kMicrosecond);
  program.spend(40 * kMicrosecond);
  program.close();
  program.kernel(10 * kMicrosecond);
  program.spend(95 * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) { change.scale_event(trace, program.id(outer), 0.5F); };
  EXPECT_EQ(program.replayed(edit).period, (50 + 60 + 20 + 5 + 95) * kMicrosecond);
}

TEST(StepGraph, shorter_device_work_lets_the_waiting_host_go_on) {
  WaitingProgram program;
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : program.kernels) change.scale_event(trace, program.id(kernel), 0.5F);
  };
  const ReplayedStep step = program.replayed(edit);
  EXPECT_EQ(step.period, (5 + 150 + 2 + 100) * kMicrosecond);
  EXPECT_EQ(step.device_busy, 150 * kMicrosecond);
}

TEST(StepGraph, longer_device_work_keeps_the_waiting_host) {
  WaitingProgram program;
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : program.kernels) change.scale_event(trace, program.id(kernel), 2);
  };
  EXPECT_EQ(program.replayed(edit).period, (5 + 600 + 2 + 100) * kMicrosecond);
}

TEST(StepGraph, removed_device_work_is_waited_for_no_more) {
  WaitingProgram program;
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : program.kernels) change.scale_event(trace, program.id(kernel), 0);
  };
  const ReplayedStep step = program.replayed(edit);
  EXPECT_EQ(step.period, (5 + 2 + 100) * kMicrosecond);
  EXPECT_EQ(step.device_busy, 0);
}

TEST(StepGraph, a_removed_wait_takes_no_time_of_its_own_either) {
  WaitingProgram program(400 * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle wait : program.waits) change.scale_event(trace, program.id(wait), 0);
  };
  EXPECT_EQ(program.replayed(edit).period, (5 + 400) * kMicrosecond);
}

TEST(StepGraph, host_time_that_is_added_comes_at_the_beginning_of_each_step) {
  WaitingProgram program;
  const auto edit = [](const Trace&, Edit& change) { change.added_host_ns = 50 * kMicrosecond; };
  const ReplayedStep step = program.replayed(edit);
  EXPECT_EQ(step.period, (407 + 50) * kMicrosecond);
  EXPECT_EQ(step.host_busy, (107 + 50) * kMicrosecond);
}

// It runs while the host launches the first kernel, which then follows it by 1 µs.
TEST(StepGraph, device_work_that_is_added_comes_before_that_of_each_step) {
  WaitingProgram program;
  const auto edit = [](const Trace&, Edit& change) { change.added_device_ns = 50 * kMicrosecond; };
  const ReplayedStep step = program.replayed(edit);
  EXPECT_EQ(step.period, (51 + 300 + 2 + 100) * kMicrosecond);
  EXPECT_EQ(step.device_busy, 350 * kMicrosecond);
}

// As measured on an H200.
constexpr Nanoseconds kBetweenNodes = 300;

TEST(StepGraph, nodes_of_a_graph_follow_one_another_without_their_launches) {
  Program program;
  std::vector<Handle> kernels, calls;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 10; ++i) {
      calls.push_back(program.run(Kind::kOperator, "aten::add", 20 * kMicrosecond));
      kernels.push_back(program.kernel(10 * kMicrosecond));
      calls.push_back(program.last_call());
    }
  }
  EXPECT_EQ(program.replayed().period, 10 * 25 * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle call : calls) change.scale_event(trace, program.id(call), 0);
    for (const Handle kernel : kernels) change.run_in_graph(trace, program.id(kernel));
  };
  EXPECT_EQ(program.replayed(edit).period, 10 * (10'000 + kBetweenNodes));
}

TEST(StepGraph, nodes_of_a_graph_follow_one_another_closely_where_kernels_did_not) {
  Program program;
  std::vector<Handle> kernels;
  Nanoseconds begin = 5 * kMicrosecond;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 10; ++i) {
      const Handle call = program.run(Kind::kRuntime, "cudaLaunchKernel", 5 * kMicrosecond);
      const Nanoseconds end = begin + 20 * kMicrosecond;
      kernels.push_back(program.sketch().work(program.stream(), Kind::kKernel, "kernel", begin, end, call));
      begin = end + 4 * kMicrosecond;
    }
  }
  EXPECT_EQ(program.replayed().period, 10 * (20 + 4) * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : kernels) change.run_in_graph(trace, program.id(kernel));
  };
  EXPECT_EQ(program.replayed(edit).period, 10 * (20'000 + kBetweenNodes));
}

// Four kernels of 100 µs a step, each 1 µs behind the one before. A quarter of each kernel and of its launch is one
// kernel for four. Kernels that only become faster are as many as before.
TEST(StepGraph, gaps_go_with_kernels_that_are_launched_no_more_and_stay_where_kernels_become_faster) {
  for (const auto& [left_of_launches, period] : {std::pair(0.25F, 101), std::pair(1.0F, 104)}) {
    Program program;
    std::vector<Handle> kernels, calls;
    for (int step = 0; step < 3; ++step) {
      program.begin_step();
      for (int i = 0; i < 4; ++i) {
        kernels.push_back(program.kernel(100 * kMicrosecond));
        calls.push_back(program.last_call());
      }
    }
    EXPECT_EQ(program.replayed().period, 404 * kMicrosecond);
    const auto edit = [&](const Trace& trace, Edit& change) {
      for (const Handle kernel : kernels) change.scale_event(trace, program.id(kernel), 0.25F);
      for (const Handle call : calls) change.scale_event(trace, program.id(call), left_of_launches);
    };
    EXPECT_EQ(program.replayed(edit).period, period * kMicrosecond);
  }
}

TEST(StepGraph, the_observer_is_taken_out_of_the_events_that_it_records) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(3): prepare", 100 * kMicrosecond);
    program.run(Kind::kOperator, "aten::add", 50 * kMicrosecond);
    program.kernel(10 * kMicrosecond);
    program.spend(45 * kMicrosecond);
  }
  EXPECT_EQ(program.replayed().period, 200 * kMicrosecond);
  const auto edit = [&](const Trace&, Edit& change) { change.observer = {6'000, 3'000, 2'000}; };
  // A Python call, an operator and the step's mark, and a launch; the mark's is taken out of what comes first.
  EXPECT_EQ(program.replayed(edit).period, (200 - 6 - 3 - 2) * kMicrosecond);
}

TEST(StepGraph, what_a_short_stretch_cannot_have_cost_is_taken_from_those_behind_it) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(3): prepare", 1 * kMicrosecond);
    program.run(Kind::kPython, "train.py(9): go_on", 100 * kMicrosecond);
    program.kernel(10 * kMicrosecond);
  }
  const auto edit = [&](const Trace&, Edit& change) { change.observer.python_call = 6'000; };
  EXPECT_NEAR(static_cast<double>(program.replayed(edit).period), (106 - 12) * kMicrosecond, 10);
}

TEST(StepGraph, the_observer_leaves_a_fifth_of_each_stretch) {
  Program program;
  program.begin_step();
  for (int i = 0; i < 20; ++i) program.run(Kind::kPython, "train.py(3): little", 5 * kMicrosecond);
  program.kernel(10 * kMicrosecond);
  const auto edit = [&](const Trace&, Edit& change) { change.observer.python_call = 60'000; };
  EXPECT_NEAR(static_cast<double>(program.replayed(edit).period), 105 * 0.2 * kMicrosecond, 30);
}

TEST(StepGraph, the_observer_takes_its_share_of_short_stretches_and_little_of_long_ones) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(3): little", 50 * kMicrosecond);
    program.run(Kind::kOperator, "aten::sort", 1000 * kMicrosecond);
  }
  const auto edit = [&](const Trace&, Edit& change) { change.observer.share = 0.4; };
  // Of what takes longer than 100 µs, only so much is slowed down.
  EXPECT_EQ(program.replayed(edit).period, (50 - 20 + 1000 - 40) * kMicrosecond);
}

// The float closest to it is 4 ns away.
TEST(StepGraph, long_work_keeps_its_nanoseconds) {
  Program program;
  program.begin_step();
  program.kernel(123'456'789);
  program.wait();
  EXPECT_EQ(program.replayed().period, 5 * kMicrosecond + 123'456'789 + 2 * kMicrosecond);
}

TEST(StepGraph, a_full_queue_keeps_the_host_waiting_only_as_long_as_the_device_needs) {
  LongQueue program;
  program.launched_before(200);
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  const auto period_at = [&](float factor) {
    return replayed_step(trace,
                         [&](const Trace&, Edit& edit) {
                           for (const Handle kernel : program.kernels)
                             edit.scale_event(trace, program.sketch.id(kernel), factor);
                         })
        .period;
  };
  EXPECT_NEAR(static_cast<double>(period_at(1)), 400 * LongQueue::kKernel, 0.01 * 400 * LongQueue::kKernel);
  EXPECT_NEAR(static_cast<double>(period_at(0.25F)), 400 * LongQueue::kKernel / 4, 0.01 * 400 * LongQueue::kKernel);
  // Now the host sets the pace: no faster than it launches, and a launch is known to take 10 µs at most.
  EXPECT_GE(period_at(0.01F), 400 * LongQueue::kLaunch);
  EXPECT_LE(period_at(0.01F), 400 * 10 * kMicrosecond);
}

// The host may be ahead by what the queue holds and no more: a host that pauses for longer than that much work leaves
// the device idle, however fast it launches.
TEST(StepGraph, the_queue_bounds_how_far_the_host_runs_ahead) {
  ReplayedProgram program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    for (int i = 0; i < 2000; ++i) program.kernel(6 * kMicrosecond);
    program.run(Kind::kPython, "train.py(3): log", 40 * kMillisecond);
  }
  const auto slower = [&](const Trace& trace, Edit& edit) {
    for (EventId event = 0; event < trace.events.size(); ++event)
      if (trace.events.kind[event] == Kind::kKernel) edit.scale_event(trace, event, 4);
  };
  // Kernels of 24 µs and 1 µs between them: when the last of 2,000 is launched, 976 have begun, and the pause follows.
  const Nanoseconds expected = 976 * 25 * kMicrosecond + 40 * kMillisecond;
  EXPECT_NEAR(static_cast<double>(program.replayed(slower).period), static_cast<double>(expected), 0.01 * expected);
}

}  // namespace
}  // namespace telltale
