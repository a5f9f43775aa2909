#include "analysis/call_stacks.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// train() calls model(), which calls apply(), whose return was not seen; then train() calls step().
struct MissedReturn {
  MissedReturn() {
    const TrackId thread = sketch.thread("main");
    record = sketch.event(thread, Kind::kPython, "record", 0, 1000);
    train = sketch.event(thread, Kind::kPython, "train", 10, 500);
    model = sketch.event(thread, Kind::kPython, "model", 20, 200);
    apply = sketch.event(thread, Kind::kPython, "apply", 30, 1000);
    compiled = sketch.op(thread, "CompiledFunction", 40, 150);
    inner = sketch.op(thread, "aten::mm", 50, 60);
    step = sketch.event(thread, Kind::kPython, "step", 300, 400);
    later = sketch.event(thread, Kind::kPython, "train", 600, 900);
    trace = sketch.build();
    trace.lanes.append(sketch.id(apply), 1);
  }

  TraceSketch sketch;
  TraceSketch::Handle record = 0, train = 0, model = 0, apply = 0, compiled = 0, inner = 0, step = 0, later = 0;
  Trace trace;
};

TEST(Callers, pass_over_calls_whose_return_was_not_seen) {
  const MissedReturn program;
  const auto caller = [&](TraceSketch::Handle event) { return caller_of(program.trace, program.sketch.id(event)); };
  EXPECT_EQ(caller(program.compiled), program.sketch.id(program.model));
  EXPECT_EQ(caller(program.inner), program.sketch.id(program.compiled));
  EXPECT_EQ(caller(program.step), program.sketch.id(program.train));
  EXPECT_EQ(caller(program.later), program.sketch.id(program.record));
  EXPECT_EQ(caller(program.record), kNoEvent);
}

TEST(Callers, of_a_call_left_open_are_what_was_open_when_it_began) {
  const MissedReturn program;
  const Callers all = callers(program.trace);
  EXPECT_TRUE(all.is_left_open[program.sketch.id(program.apply)]);
  EXPECT_EQ(all.of[program.sketch.id(program.apply)], program.sketch.id(program.model));
}

TEST(Callers, are_the_parents_where_all_returns_were_seen) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "a", 0, 100);
  sketch.event(thread, Kind::kPython, "b", 10, 90);
  sketch.op(thread, "aten::mm", 20, 30);
  const Trace trace = sketch.build();
  EXPECT_EQ(callers(trace).of, trace.events.parent);
}

// The last row that contains an event, of those that were not left open, by looking at them all.
EventId slow_caller_of(const Trace& trace, EventId event) {
  const Events& events = trace.events;
  EventId caller = kNoEvent;
  for (EventId other = 0; other < event; ++other)
    if (events.track[other] == events.track[event] && !is_left_open(trace, other) &&
        events.end(other) >= events.end(event))
      caller = other;
  return caller;
}

TEST(Callers, agree_with_looking_at_all_rows) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TraceSketch sketch;
    const TrackId threads[] = {sketch.thread("one"), sketch.thread("two")};
    std::vector<TraceSketch::Handle> open;
    // Calls that nest: each is cut out of the free time of another one. Some are then left open until the end.
    std::vector<std::pair<Nanoseconds, Nanoseconds>> spans = {{0, 100'000}};
    for (int i = 0; i < 60; ++i) {
      const auto [begin, end] = spans[random() % spans.size()];
      if (end - begin < 10) continue;
      const Nanoseconds start = begin + 1 + static_cast<Nanoseconds>(random() % 3);
      const Nanoseconds stop = start + 1 + static_cast<Nanoseconds>(random() % static_cast<unsigned>(end - start - 2));
      const bool is_open = random() % 6 == 0;
      const auto call = sketch.event(threads[i % 2], Kind::kPython, "f", start, is_open ? 200'000 : stop);
      if (is_open) open.push_back(call);
      spans = {{start, stop}, {stop, end}};
    }
    Trace trace = sketch.build();
    std::vector<EventId> ids;
    for (const auto call : open) ids.push_back(sketch.id(call));
    std::ranges::sort(ids);
    for (const EventId id : ids) trace.lanes.append(id, 1);

    const Callers all = callers(trace);
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (all.is_left_open[event]) continue;
      EXPECT_EQ(caller_of(trace, event), slow_caller_of(trace, event)) << event;
      EXPECT_EQ(all.of[event], slow_caller_of(trace, event)) << event;
    }
  }
}

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

// Calls that were made of samples have one name for all lines of a function; operators know theirs.
TEST(CallStacks, have_the_lines_that_operators_tell_where_calls_are_seen_by_samples) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "train.py(1): main", 0, 100);
  const auto call = sketch.event(main, Kind::kPython, "train.py(8): step", 0, 90);
  sketch.set_call_stack(call, "train.py(8): step;train.py(1): main");
  const auto outer = sketch.op(main, "aten::linear", 20, 80);
  sketch.set_call_stack(outer, "train.py(9): step;train.py(3): main");
  const auto inner = sketch.op(main, "aten::addmm", 30, 70);
  Trace trace = sketch.build();
  trace.recorded.sampled = true;

  CallStacks stacks(trace, 5);
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(inner))), (Frames{"train.py(9): step", "train.py(3): main"}));
  EXPECT_EQ(stacks.of(sketch.id(inner)), stacks.of(sketch.id(outer)));
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(call))), Frames{"train.py(1): main"});
}

// Each call was recorded and says where its function is defined; the operator says where they were. It leaves out what
// belongs to torch, and a function may call itself.
TEST(CallStacks, have_the_calls_that_were_recorded_with_the_lines_that_operators_tell) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "train.py(1): main", 0, 100);
  sketch.event(main, Kind::kPython, "train.py(8): walk", 5, 95);
  sketch.event(main, Kind::kPython, "torch/nn/modules/module.py(1774): _call_impl", 10, 90);
  sketch.event(main, Kind::kModule, "nn.Module: Net_0", 15, 85);
  sketch.event(main, Kind::kPython, "train.py(8): walk", 20, 80);
  sketch.event(main, Kind::kPython, "<built-in function linear>", 25, 75);
  const auto outer = sketch.op(main, "aten::linear", 30, 70);
  sketch.set_call_stack(outer, "train.py(12): walk;nn.Module: Net_0;train.py(9): walk;train.py(3): main");
  const auto inner = sketch.op(main, "aten::addmm", 40, 60);
  const auto later = sketch.op(main, "aten::relu", 96, 98);
  const Trace trace = sketch.build();

  const Frames expected = {"<built-in function linear>", "train.py(12): walk",
                           "nn.Module: Net_0",           "torch/nn/modules/module.py(1774): _call_impl",
                           "train.py(9): walk",          "train.py(3): main"};
  CallStacks stacks(trace, 10);
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(outer))), expected);
  EXPECT_EQ(stacks.of(sketch.id(inner)), stacks.of(sketch.id(outer)));
  EXPECT_EQ(stacks.frames(stacks.of(sketch.id(later))), Frames{"train.py(1): main"});
  CallStacks innermost(trace, 2);
  EXPECT_EQ(innermost.frames(innermost.of(sketch.id(inner))), Frames(expected.begin(), expected.begin() + 2));
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
