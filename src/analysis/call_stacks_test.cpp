#include "analysis/call_stacks.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

using Frames = std::vector<std::string>;

TEST(CallStacks, name_the_frames_around_an_operator_innermost_first) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "train.py(1): main", 0, 100);
  sketch.event(main, Kind::kModule, "nn.Module: Linear_0", 10, 90);
  const auto outer = sketch.op(main, "aten::linear", 20, 80);
  const auto inner = sketch.op(main, "aten::addmm", 30, 70);
  const Trace trace = sketch.build();

  CallStacks stacks(trace, 5);
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(inner))), (Frames{"nn.Module: Linear_0", "train.py(1): main"}));
  EXPECT_EQ(stacks.of(sketch.id(inner)), stacks.of(sketch.id(outer)));
}

TEST(CallStacks, that_agree_in_their_innermost_frames_are_the_same_stack) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "first caller", 0, 100);
  sketch.event(main, Kind::kPython, "callee", 10, 90);
  const auto first = sketch.op(main, "aten::mm", 20, 80);
  sketch.event(main, Kind::kPython, "second caller", 200, 300);
  sketch.event(main, Kind::kPython, "callee", 210, 290);
  const auto second = sketch.op(main, "aten::mm", 220, 280);
  const Trace trace = sketch.build();

  CallStacks shallow(trace, 1);
  EXPECT_EQ(shallow.of(sketch.id(first)), shallow.of(sketch.id(second)));
  CallStacks deep(trace, 2);
  EXPECT_NE(deep.of(sketch.id(first)), deep.of(sketch.id(second)));
}

TEST(CallStacks, of_backward_operators_are_those_of_their_forward_ones) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId autograd = sketch.thread("autograd");
  sketch.event(main, Kind::kPython, "model.py(7): forward", 0, 100);
  const auto forward = sketch.op(main, "aten::mm", 10, 90);
  const auto backward = sketch.op(autograd, "MmBackward0", 200, 300);
  const auto inner = sketch.op(autograd, "aten::mm", 210, 290);
  sketch.set_cause(backward, forward);
  const Trace trace = sketch.build();

  CallStacks stacks(trace, 5);
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(inner))), Frames{"model.py(7): forward"});
}

TEST(CallStacks, of_kernels_are_those_of_their_launches) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kPython, "model.py(7): forward", 0, 100);
  const auto launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 10, 20);
  const auto kernel = sketch.event(stream, Kind::kKernel, "gemm", 50, 60);
  const auto orphan = sketch.event(stream, Kind::kKernel, "gemm", 70, 80);
  sketch.set_cause(kernel, launch);
  const Trace trace = sketch.build();

  CallStacks stacks(trace, 5);
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(kernel))), Frames{"model.py(7): forward"});
  EXPECT_EQ(stacks.of(sketch.id(orphan)), kNoStack);
}

TEST(CallStacks, are_read_from_the_operator_where_no_python_call_was_recorded) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto outer = sketch.op(main, "aten::linear", 0, 100);
  const auto inner = sketch.op(main, "aten::addmm", 10, 90);
  sketch.set_call_stack(outer, "a.py(1): f;b.py(2): g;c.py(3): h");
  const Trace trace = sketch.build();

  CallStacks stacks(trace, 2);
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(inner))), (Frames{"a.py(1): f", "b.py(2): g"}));
}

}  // namespace
}  // namespace telltale
