#include "analysis/host_waits.h"

#include <gtest/gtest.h>

#include "analysis/testing/program_sketch.h"

namespace telltale {
namespace {

std::vector<HostWait> waits_of(const Trace& trace) {
  return host_waits(trace, step_timing(trace), host_work_by_event(trace));
}

// Two steps of 10 ms each.
TEST(HostWaits, are_summed_up_by_line_and_by_what_is_waited_for) {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(12): throttle");
    program.run(Kind::kPython, "<waits for sleep>", 2 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 4 * kMillisecond);
    program.run(Kind::kPython, "<waits for sleep>", 3 * kMillisecond);
    program.run(Kind::kPython, "<waits for file>", 1 * kMillisecond);
    program.close();
  }
  const std::vector<HostWait> waits = waits_of(program.build());
  ASSERT_EQ(waits.size(), 2);
  EXPECT_EQ(waits[0].what, WaitFor::kSleep);
  EXPECT_EQ(waits[0].source, (SourceLine{"train.py", 12, "throttle"}));
  EXPECT_EQ(waits[0].ns, 5 * kMillisecond);
  EXPECT_EQ(waits[0].percent, 50);
  EXPECT_EQ(waits[0].calls.size(), 4);
  EXPECT_EQ(waits[1].what, WaitFor::kFile);
  EXPECT_EQ(waits[1].ns, 1 * kMillisecond);
}

// 3 ms in a buffer's read, 2 of them in the socket below it.
TEST(HostWaits, a_wait_that_is_made_of_waits_counts_once) {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(12): fetch");
    program.open(Kind::kPython, "http/client.py(463): read");
    program.open(Kind::kPython, "<built-in method readline of _io.BufferedReader object>");
    program.spend(1 * kMillisecond);
    program.run(Kind::kPython, "<built-in method recv_into of socket object>", 2 * kMillisecond);
    program.close();
    program.close();
    program.close();
    program.run(Kind::kOperator, "aten::mm", 3 * kMillisecond);
  }
  const std::vector<HostWait> waits = waits_of(program.build());
  ASSERT_EQ(waits.size(), 1);
  EXPECT_EQ(waits[0].what, WaitFor::kSocket);
  EXPECT_EQ(waits[0].ns, 3 * kMillisecond);
  EXPECT_EQ(waits[0].calls.size(), 2);
}

TEST(HostWaits, those_for_the_backward_pass_on_another_thread_are_none) {
  ProgramSketch program;
  std::vector<TraceSketch::Handle> passes;
  TraceSketch& sketch = program.sketch();
  const TrackId autograd = sketch.thread("pt_autograd_0");
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(33): main");
    program.run(Kind::kOperator, "aten::mm", 4 * kMillisecond);
    const Nanoseconds begin = program.now();
    program.run(Kind::kPython, "<waits for lock>", 3 * kMillisecond);
    passes.push_back(sketch.op(autograd, "MmBackward0", begin + 1, begin + kMillisecond));
    program.run(Kind::kPython, "<waits for lock>", 1 * kMillisecond);
    program.close();
  }
  Trace trace = program.build();
  OperatorInfo info;
  info.forward_thread = 1;
  for (const TraceSketch::Handle pass : passes) trace.operators.append(sketch.id(pass), info);
  const std::vector<HostWait> waits = waits_of(trace);
  ASSERT_EQ(waits.size(), 1);
  EXPECT_EQ(waits[0].ns, 1 * kMillisecond);
}

TEST(HostWaits, the_loaders_own_are_loading) {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    program.run(Kind::kPython, "<waits for pipe>", 2 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 3 * kMillisecond);
  }
  EXPECT_TRUE(waits_of(program.build()).empty());
}

// A lock is waited for, and a collective runs in the middle of that.
std::vector<HostWait> waits_around(Nanoseconds waited, Nanoseconds communicating) {
  ProgramSketch program;
  const TrackId gloo = program.sketch().thread("pt_gloo_runloop");
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    const Nanoseconds begin = program.now() + (waited - communicating) / 2;
    program.run(Kind::kPython, "<waits for lock>", waited);
    program.run(Kind::kOperator, "aten::mm", 3 * kMillisecond);
    program.sketch().event(gloo, Kind::kAnnotation, "gloo:all_reduce", begin, begin + communicating);
  }
  return waits_of(program.build());
}

TEST(HostWaits, those_that_are_mostly_for_other_ranks_are_communication) {
  EXPECT_TRUE(waits_around(4 * kMillisecond, 3 * kMillisecond).empty());
  const std::vector<HostWait> waits = waits_around(4 * kMillisecond, 1 * kMillisecond);
  ASSERT_EQ(waits.size(), 1);
  EXPECT_EQ(waits[0].ns, 3 * kMillisecond);
}

}  // namespace
}  // namespace telltale
