#include "replay/step_graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>

#include "analysis/testing/program_sketch.h"

namespace telltale {
namespace {

using Handle = TraceSketch::Handle;
using MakeEdit = std::function<void(const Trace&, Edit&)>;

ReplayedStep replayed_step(const Trace& trace, const MakeEdit& make_edit = {}) {
  const StepTiming timing = step_timing(trace);
  const StepGraph graph(trace, timing, host_work_by_event(trace));
  Edit edit;
  if (make_edit) make_edit(trace, edit);
  return graph.replay(edit);
}

// Is drawn no further once it has been replayed.
class Program : public ProgramSketch {
 public:
  Handle kernel(Nanoseconds duration) { return launch("cudaLaunchKernel", Kind::kKernel, "kernel", duration); }

  ReplayedStep replayed(const MakeEdit& make_edit = {}) { return replayed_step(trace(), make_edit); }
  bool is_launch_blocking() {
    const StepTiming timing = step_timing(trace());
    return StepGraph(trace(), timing, host_work_by_event(trace())).is_launch_blocking();
  }

 private:
  const Trace& trace() {
    if (!built_) built_ = build();
    return *built_;
  }
  std::optional<Trace> built_;
};

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
  EXPECT_EQ(program.replayed(edit).period, 10 * (10 + 1) * kMicrosecond);
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
  EXPECT_EQ(program.replayed(edit).period, 10 * (20 + 1) * kMicrosecond);
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

TEST(StepGraph, the_observer_took_no_more_than_about_half) {
  Program program;
  program.begin_step();
  for (int i = 0; i < 20; ++i) program.run(Kind::kPython, "train.py(3): little", 5 * kMicrosecond);
  program.kernel(10 * kMicrosecond);
  const auto edit = [&](const Trace&, Edit& change) { change.observer.python_call = 60'000; };
  EXPECT_NEAR(static_cast<double>(program.replayed(edit).period), 105 * 0.48 * kMicrosecond, 30);
}

// Three small kernels that nothing delays, then one on another stream that begins when the first stream is done.
struct TwoStreams : Program {
  std::vector<Handle> first, second;
  TwoStreams() {
    const TrackId other = sketch().stream(0, 8);
    for (int step = 0; step < 3; ++step) {
      begin_step();
      for (int i = 0; i < 3; ++i) {
        kernel(3 * kMicrosecond);
        spend(5 * kMicrosecond);
      }
      first.push_back(kernel(200 * kMicrosecond));
      second.push_back(launch_behind(first.back(), other, 100 * kMicrosecond));
      wait();
      run(Kind::kPython, "train.py(3): log", 100 * kMicrosecond);
    }
  }
};

TEST(StepGraph, work_of_another_stream_that_ended_just_before_is_what_late_work_waited_for) {
  TwoStreams program;
  const Nanoseconds period = (3 * 10 + 5 + 200 + 1 + 100 + 2 + 100) * kMicrosecond;
  EXPECT_EQ(program.replayed().period, period);
  const auto shorten = [&](const std::vector<Handle>& kernels, float factor) {
    return program
        .replayed([&](const Trace& trace, Edit& change) {
          for (const Handle kernel : kernels) change.scale_event(trace, program.id(kernel), factor);
        })
        .period;
  };
  EXPECT_EQ(shorten(program.first, 0.5F), period - 100 * kMicrosecond);
  EXPECT_EQ(shorten(program.second, 0.5F), period - 50 * kMicrosecond);
}

// A kernel that stands in the queue behind one of its own stream, and waits for one of another stream as well.
TEST(StepGraph, work_in_a_queue_may_wait_for_another_stream) {
  Program program;
  const TrackId other = program.sketch().stream(0, 8);
  std::vector<Handle> awaited;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel(3 * kMicrosecond);
    program.spend(10 * kMicrosecond);
    const Handle first = program.kernel(100 * kMicrosecond);
    program.kernel(10 * kMicrosecond);
    program.kernel(10 * kMicrosecond);
    awaited.push_back(program.launch_behind(first, other, 300 * kMicrosecond));
    program.launch_behind(awaited.back(), program.stream(), 50 * kMicrosecond);
    program.wait();
  }
  const Nanoseconds period = (5 + 10 + 5 + 100 + 1 + 300 + 1 + 50 + 2) * kMicrosecond;
  EXPECT_EQ(program.replayed().period, period);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : awaited) change.scale_event(trace, program.id(kernel), 0.5F);
  };
  EXPECT_EQ(program.replayed(edit).period, period - 150 * kMicrosecond);
}

// Calls of 60 µs that return 5 µs behind kernels of 50 µs.
TEST(StepGraph, launches_that_all_outlast_their_kernels_wait_for_them) {
  Program program;
  std::vector<Handle> calls;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 3; ++i) {
      program.blocking_launch("cudaLaunchKernel", Kind::kKernel, "kernel", 50 * kMicrosecond);
      calls.push_back(program.last_call());
      program.run(Kind::kPython, "train.py(3): prepare", 20 * kMicrosecond);
    }
  }
  EXPECT_EQ(program.replayed().period, 3 * 80 * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle call : calls) change.drop_wait(trace, program.id(call));
  };
  EXPECT_EQ(program.replayed(edit).period, 3 * (50 + 1) * kMicrosecond);
  EXPECT_TRUE(program.is_launch_blocking());
  EXPECT_FALSE(WaitingProgram().is_launch_blocking());
}

TEST(StepGraph, a_copy_that_its_call_outlasts_keeps_the_host) {
  Program program;
  std::vector<Handle> copies, calls;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    copies.push_back(program.blocking_launch("cudaMemcpyAsync", Kind::kMemcpy, "Memcpy HtoD", 190 * kMicrosecond));
    calls.push_back(program.last_call());
    program.run(Kind::kPython, "train.py(3): prepare", 100 * kMicrosecond);
  }
  EXPECT_EQ(program.replayed().period, 300 * kMicrosecond);
  const auto faster = [&](const Trace& trace, Edit& change) {
    for (const Handle copy : copies) change.scale_event(trace, program.id(copy), 0.1F);
  };
  EXPECT_NEAR(static_cast<double>(program.replayed(faster).period), (5 + 19 + 5 + 100) * kMicrosecond, 10);
  const auto asynchronous = [&](const Trace& trace, Edit& change) {
    for (const Handle call : calls) change.drop_wait(trace, program.id(call));
  };
  EXPECT_EQ(program.replayed(asynchronous).period, (190 + 1) * kMicrosecond);
}

TEST(StepGraph, all_kernels_of_a_graph_come_from_its_one_launch) {
  Program program;
  std::vector<Handle> kernels;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kRuntime, "cudaGraphLaunch", 20 * kMicrosecond);
    for (int i = 0; i < 4; ++i) kernels.push_back(program.follow(program.last_call(), "node", 100 * kMicrosecond));
    program.wait();
  }
  EXPECT_EQ(program.replayed().period, (20 + 400 + 3 + 2) * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (std::size_t i = 1; i < kernels.size(); i += 4) change.scale_event(trace, program.id(kernels[i]), 0.5F);
  };
  EXPECT_EQ(program.replayed(edit).period, (20 + 350 + 3 + 2) * kMicrosecond);
}

TEST(StepGraph, a_wait_for_an_event_far_back_in_the_queue_ends_when_that_does) {
  Program program;
  std::vector<Handle> kernels;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    Handle awaited = 0;
    for (int i = 0; i < 200; ++i) {
      kernels.push_back(program.kernel(10 * kMicrosecond));
      if (i == 99) awaited = kernels.back();
    }
    program.wait_for(awaited);
    program.run(Kind::kPython, "train.py(3): think", 5000 * kMicrosecond);
  }
  // 100 kernels of 11 µs behind the first launch, then 2 µs to wake up and 5 ms to think.
  const Nanoseconds period = (5 + 100 * 11 - 1 + 2 + 5000) * kMicrosecond;
  EXPECT_EQ(program.replayed().period, period);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : kernels) change.scale_event(trace, program.id(kernel), 0.5F);
  };
  // With 6 µs a kernel the device is done with the 100th before the 200th is launched.
  EXPECT_EQ(program.replayed(edit).period, (200 * 5 + 2 + 5000) * kMicrosecond);
}

// Two threads that work side by side on streams of their own.
struct TwoThreads : Program {
  TrackId other = sketch().thread("other"), other_stream = sketch().stream(0, 8);
  std::vector<Handle> main_calls, other_calls;

  TwoThreads() {
    for (int step = 0; step < 3; ++step) {
      begin_step();
      const Nanoseconds begin = now();
      main_calls.push_back(run(Kind::kOperator, "aten::mm", 295 * kMicrosecond));
      kernel(50 * kMicrosecond);
      other_calls.push_back(sketch().op(other, "aten::mm", begin, begin + 195 * kMicrosecond));
      const Handle call = sketch().event(other, Kind::kRuntime, "cudaLaunchKernel", begin + 195 * kMicrosecond,
                                         begin + 200 * kMicrosecond);
      sketch().work(other_stream, Kind::kKernel, "kernel", begin + 200 * kMicrosecond, begin + 260 * kMicrosecond,
                    call);
    }
  }
  Nanoseconds period_with(const std::vector<Handle>& calls, float factor) {
    return replayed([&](const Trace& trace, Edit& change) {
             for (const Handle call : calls) change.scale_event(trace, id(call), factor);
           })
        .period;
  }
};

TEST(StepGraph, threads_that_do_not_hand_over_are_replayed_side_by_side) {
  TwoThreads program;
  EXPECT_EQ(program.replayed().period, 300 * kMicrosecond);
  EXPECT_EQ(program.period_with(program.other_calls, 0.5F), 300 * kMicrosecond);
  EXPECT_EQ(program.period_with(program.main_calls, 2), (2 * 295 + 5) * kMicrosecond);
}

TEST(StepGraph, device_work_is_added_once_a_step_however_many_threads_there_are) {
  TwoThreads program;
  const auto edit = [](const Trace&, Edit& change) { change.added_device_ns = 20 * kMicrosecond; };
  EXPECT_EQ(program.replayed(edit).device_busy - program.replayed().device_busy, 20 * kMicrosecond);
}

TEST(StepGraph, the_backward_pass_on_another_thread_is_part_of_one_line_of_work) {
  Program program;
  const TrackId autograd = program.sketch().thread("autograd");
  std::vector<Handle> backward;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kOperator, "aten::mm", 95 * kMicrosecond);
    program.kernel(10 * kMicrosecond);
    const Nanoseconds begin = program.now();
    program.run(Kind::kPython, "backward", 100 * kMicrosecond);
    backward.push_back(program.sketch().op(autograd, "MmBackward0", begin, begin + 100 * kMicrosecond));
    const Handle call = program.sketch().event(autograd, Kind::kRuntime, "cudaLaunchKernel", begin + 90 * kMicrosecond,
                                               begin + 95 * kMicrosecond);
    program.sketch().work(program.stream(), Kind::kKernel, "kernel", begin + 95 * kMicrosecond,
                          begin + 98 * kMicrosecond, call);
  }
  EXPECT_EQ(program.replayed().period, 200 * kMicrosecond);
  const auto edit = [&](const Trace& trace, Edit& change) {
    for (const Handle call : backward) change.scale_event(trace, program.id(call), 0);
  };
  EXPECT_EQ(program.replayed(edit).period, 105 * kMicrosecond);
}

TEST(StepGraph, of_a_trace_without_events_threads_or_a_device_takes_its_time) {
  EXPECT_EQ(replayed_step(TraceSketch().build()).period, 0);

  TraceSketch device_only;
  device_only.event(device_only.stream(0, 7), Kind::kKernel, "kernel", 0, 100);
  EXPECT_EQ(replayed_step(device_only.build()).period, 0);

  TraceSketch host_only;
  host_only.op(host_only.thread("main"), "aten::mm", 0, 100);
  const ReplayedStep step = replayed_step(host_only.build());
  EXPECT_EQ(step.period, 100);
  EXPECT_EQ(step.device_busy, 0);
}

TEST(StepGraph, events_without_a_duration_do_no_harm) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);
  for (int i = 0; i < 5; ++i) {
    const Handle call = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 50, 50);
    sketch.work(stream, Kind::kKernel, "kernel", 60, 60, call);
  }
  sketch.op(main, "aten::mm", 0, 100);
  EXPECT_EQ(replayed_step(sketch.build()).period, 100);
}

// The float closest to it is 4 ns away.
TEST(StepGraph, long_work_keeps_its_nanoseconds) {
  Program program;
  program.begin_step();
  program.kernel(123'456'789);
  program.wait();
  EXPECT_EQ(program.replayed().period, 5 * kMicrosecond + 123'456'789 + 2 * kMicrosecond);
}

}  // namespace
}  // namespace telltale
