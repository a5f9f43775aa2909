// How a recorded program becomes a graph, seen from what the graph does when it is replayed.
#include <gtest/gtest.h>

#include "replay/testing/replayed_program.h"

namespace telltale {
namespace {

using Handle = TraceSketch::Handle;
using Program = ReplayedProgram;

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

TEST(GraphBuilder, work_of_another_stream_that_ended_just_before_is_what_late_work_waited_for) {
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

// Handing over takes the device 40 µs, of a delay of 5 ms: a collective that the optimizer waits for.
TEST(GraphBuilder, a_long_delay_may_leave_a_little_unexplained) {
  Program program;
  const TrackId other = program.sketch().stream(0, 8);
  std::vector<Handle> collectives;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 3; ++i) program.kernel(100 * kMicrosecond);
    const Handle call = program.run(Kind::kRuntime, "cudaLaunchKernel", 5 * kMicrosecond);
    const Nanoseconds begin = program.now();
    collectives.push_back(program.sketch().work(other, Kind::kKernel, "nccl", begin, begin + 5 * kMillisecond, call));
    const Handle optimizer = program.run(Kind::kRuntime, "cudaLaunchKernel", 5 * kMicrosecond);
    const Nanoseconds behind = begin + 5 * kMillisecond + 40 * kMicrosecond;
    program.sketch().work(program.stream(), Kind::kKernel, "adam", behind, behind + 100 * kMicrosecond, optimizer);
    program.run(Kind::kRuntime, "cudaStreamSynchronize", behind + 102 * kMicrosecond - program.now());
  }
  const auto faster = [&](const Trace& trace, Edit& change) {
    for (const Handle collective : collectives) change.scale_event(trace, program.id(collective), 0.2F);
  };
  // Four launches of 5 µs, what is left of the collective, the hand-over, the optimizer, and 2 µs until the host is
  // awake.
  EXPECT_NEAR(static_cast<double>(program.replayed(faster).period), (20 + 1000 + 40 + 100 + 2) * kMicrosecond, 10);
}

// A kernel that stands in the queue behind one of its own stream, and waits for one of another stream as well.
TEST(GraphBuilder, work_in_a_queue_may_wait_for_another_stream) {
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
TEST(GraphBuilder, launches_that_all_outlast_their_kernels_wait_for_them) {
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
}

TEST(GraphBuilder, launches_that_return_at_once_wait_for_nothing) {
  Program program;
  program.begin_step();
  program.kernel(300 * kMicrosecond);
  program.wait();
  EXPECT_FALSE(program.is_launch_blocking());
}

TEST(GraphBuilder, a_copy_that_its_call_outlasts_keeps_the_host) {
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

TEST(GraphBuilder, all_kernels_of_a_graph_come_from_its_one_launch) {
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

TEST(GraphBuilder, a_wait_for_an_event_far_back_in_the_queue_ends_when_that_does) {
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

// A copy on a stream of its own, and a kernel that the recorder says waits for it, though it begins later for another
// reason: what is before it on its stream takes longer.
struct StreamThatWaits : Program {
  TrackId copies = sketch().stream(0, 20);
  std::vector<Handle> copied, computed;

  StreamThatWaits() {
    for (int step = 0; step < 3; ++step) {
      begin_step();
      const Handle call = run(Kind::kRuntime, "cudaMemcpyAsync", 5 * kMicrosecond);
      copied.push_back(sketch().work(copies, Kind::kMemcpy, "Memcpy HtoD", now(), now() + 200 * kMicrosecond, call));
      const Handle wait = run(Kind::kRuntime, "cudaStreamWaitEvent", 1 * kMicrosecond);
      const Handle sync = sketch().event(stream(), Kind::kSync, "Stream Wait Event", now(), now());
      sketch().set_cause(sync, wait);
      sketch().set_sync(sync, {.kind = sketch().trace().strings.intern("Stream Wait Event"), .wait_on_stream = 20});
      run(Kind::kPython, "train.py(3): prepare", 300 * kMicrosecond);
      computed.push_back(kernel(100 * kMicrosecond));
      this->wait();
    }
  }
};

TEST(GraphBuilder, a_stream_waits_for_another_where_the_recorder_says_so) {
  StreamThatWaits program;
  const Nanoseconds period = (5 + 1 + 300 + 5 + 100 + 2) * kMicrosecond;
  EXPECT_EQ(program.replayed().period, period);
  const auto slower = [&](const Trace& trace, Edit& change) {
    for (const Handle copy : program.copied) change.scale_event(trace, program.id(copy), 5);
  };
  // A copy of 1 ms behind its launch of 5 µs, up to 10 µs until the kernel begins, and the wait for that.
  const Nanoseconds slow = (5 + 1000 + 10 + 100 + 2) * kMicrosecond;
  EXPECT_EQ(program.replayed(slower).period, slow);
}

TEST(GraphBuilder, a_wait_for_one_stream_ends_when_that_does) {
  Program program;
  const TrackId other = program.sketch().stream(0, 20);
  std::vector<Handle> awaited, unrelated;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    awaited.push_back(program.kernel(300 * kMicrosecond));
    const Handle call = program.run(Kind::kRuntime, "cudaLaunchKernel", 5 * kMicrosecond);
    const Nanoseconds begin = program.now();
    // Ends a little after the first one, and before the call that waits for that returns.
    unrelated.push_back(program.sketch().work(other, Kind::kKernel, "kernel", begin, begin + 296 * kMicrosecond, call));
    const Handle wait = program.wait();
    const Handle sync = program.sketch().event(program.stream(), Kind::kSync, "Stream Sync", begin, program.now());
    program.sketch().set_cause(sync, wait);
    program.sketch().set_sync(sync, {.kind = program.sketch().trace().strings.intern("Stream Sync")});
    program.run(Kind::kPython, "train.py(3): log", 500 * kMicrosecond);
  }
  const Nanoseconds period = (5 + 300 + 2 + 500) * kMicrosecond;
  EXPECT_EQ(program.replayed().period, period);
  const auto slower = [&](const Trace& trace, Edit& change) {
    for (const Handle kernel : unrelated) change.scale_event(trace, program.id(kernel), 2);
  };
  EXPECT_EQ(program.replayed(slower).period, period);
}

// An allocation of 400 µs during which a kernel runs: it waited for that if it returns right behind it.
TEST(GraphBuilder, an_allocation_waits_for_the_device_only_if_it_returns_right_behind_it) {
  for (const auto& [kernel_length, is_wait] : {std::pair(398, true), std::pair(250, false)}) {
    Program program;
    std::vector<Handle> kernels;
    for (int step = 0; step < 3; ++step) {
      program.begin_step();
      kernels.push_back(program.kernel(kernel_length * kMicrosecond));
      program.run(Kind::kRuntime, "cudaHostAlloc", 400 * kMicrosecond);
      program.run(Kind::kPython, "train.py(3): log", 100 * kMicrosecond);
    }
    EXPECT_EQ(program.replayed().period, 505 * kMicrosecond);
    const auto faster = [&](const Trace& trace, Edit& change) {
      for (const Handle kernel : kernels) change.scale_event(trace, program.id(kernel), 0.5F);
    };
    const Nanoseconds saved = is_wait ? kernel_length * kMicrosecond / 2 : 0;
    EXPECT_EQ(program.replayed(faster).period, 505 * kMicrosecond - saved);
  }
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

TEST(GraphBuilder, threads_that_do_not_hand_over_are_replayed_side_by_side) {
  TwoThreads program;
  EXPECT_EQ(program.replayed().period, 300 * kMicrosecond);
  EXPECT_EQ(program.period_with(program.other_calls, 0.5F), 300 * kMicrosecond);
  EXPECT_EQ(program.period_with(program.main_calls, 2), (2 * 295 + 5) * kMicrosecond);
}

TEST(GraphBuilder, device_work_is_added_once_a_step_however_many_threads_there_are) {
  TwoThreads program;
  const auto edit = [](const Trace&, Edit& change) { change.added_device_ns = 20 * kMicrosecond; };
  EXPECT_EQ(program.replayed(edit).device_busy - program.replayed().device_busy, 20 * kMicrosecond);
}

TEST(GraphBuilder, the_backward_pass_on_another_thread_is_part_of_one_line_of_work) {
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

TEST(GraphBuilder, of_a_trace_without_events_threads_or_a_device_takes_its_time) {
  EXPECT_EQ(replayed_step(TraceSketch().build()).period, 0);

  TraceSketch device_only;
  device_only.event(device_only.stream(0, 7), Kind::kKernel, "kernel", 0, 100);
  EXPECT_EQ(replayed_step(device_only.build()).period, 100);

  TraceSketch host_only;
  host_only.op(host_only.thread("main"), "aten::mm", 0, 100);
  const ReplayedStep step = replayed_step(host_only.build());
  EXPECT_EQ(step.period, 100);
  EXPECT_EQ(step.device_busy, 0);
}

TEST(GraphBuilder, events_without_a_duration_do_no_harm) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);
  for (int i = 0; i < 5; ++i) {
    const Handle call = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 50, 50);
    sketch.work(stream, Kind::kKernel, "kernel", 60, 60, call);
  }
  sketch.op(main, "aten::mm", 0, 100);
  EXPECT_EQ(replayed_step(sketch.build()).period, 100);
}

}  // namespace
}  // namespace telltale
