#include "analysis/phases.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

std::vector<Phase> phases_of(const Trace& trace) { return phase_by_event(trace, host_work_by_event(trace)); }

// Numbers an operator as autograd does; forward_thread > 0 marks one of the backward pass.
void set_sequence(Trace& trace, EventId op, std::int64_t sequence, std::uint32_t forward_thread = 0) {
  OperatorInfo info;
  info.sequence = sequence;
  info.forward_thread = forward_thread;
  trace.operators.append(op, info);
}

// One step of training: 100 ns of data, copy, forward, backward (on another thread), optimizer, and 50 ns of the rest.
struct TrainingStep {
  TrainingStep() {
    main = sketch.thread("main");
    autograd = sketch.thread("thread 7 (pt_autograd_0)");
    stream = sketch.stream(0, 7);
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 550);
    loader =
        sketch.event(main, Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 100);
    stacking = sketch.op(main, "aten::stack", 10, 90);
    to = sketch.op(main, "aten::to", 100, 200);
    copy_call = sketch.event(main, Kind::kRuntime, "cudaMemcpyAsync", 120, 180);
    module = sketch.event(main, Kind::kModule, "nn.Module: Linear_0", 200, 300);
    linear = sketch.op(main, "aten::linear", 210, 290);
    launch = sketch.event(main, Kind::kRuntime, "cudaLaunchKernel", 220, 230);
    waiting = sketch.event(main, Kind::kPython, "<built-in method run_backward of torch._C._EngineBase>", 300, 400);
    node = sketch.op(autograd, "autograd::engine::evaluate_function: AddmmBackward0", 310, 390);
    mm = sketch.op(autograd, "aten::mm", 320, 380);
    backward_launch = sketch.event(autograd, Kind::kRuntime, "cudaLaunchKernel", 330, 340);
    optimizer = sketch.event(main, Kind::kAnnotation, "Optimizer.step#AdamW.step", 400, 500);
    adam = sketch.op(main, "aten::_foreach_add_", 410, 490);
    item = sketch.op(main, "aten::item", 500, 550);
    copy = sketch.work(stream, Kind::kMemcpy, "Memcpy HtoD", 150, 250, copy_call);
    sketch.set_copy(copy, {1000, MemorySpace::kPinned, MemorySpace::kDevice});
    forward_kernel = sketch.work(stream, Kind::kKernel, "gemm", 250, 320, launch);
    backward_kernel = sketch.work(stream, Kind::kKernel, "gemm", 350, 500, backward_launch);
  }

  TraceSketch sketch;
  TrackId main = 0, autograd = 0, stream = 0;
  TraceSketch::Handle loader = 0, stacking = 0, to = 0, copy_call = 0, module = 0, linear = 0, launch = 0, waiting = 0,
                      node = 0, mm = 0, backward_launch = 0, optimizer = 0, adam = 0, item = 0, copy = 0,
                      forward_kernel = 0, backward_kernel = 0;
};

TEST(Phases, are_inherited_from_what_contains_an_event) {
  TrainingStep step;
  Trace trace = step.sketch.build();
  set_sequence(trace, step.sketch.id(step.item), 12);
  const std::vector<Phase> phases = phases_of(trace);
  const auto phase = [&](TraceSketch::Handle handle) { return phases[step.sketch.id(handle)]; };
  EXPECT_EQ(phase(step.loader), Phase::kData);
  EXPECT_EQ(phase(step.stacking), Phase::kData);
  EXPECT_EQ(phase(step.to), Phase::kCopy);
  EXPECT_EQ(phase(step.copy_call), Phase::kCopy);
  EXPECT_EQ(phase(step.module), Phase::kForward);
  EXPECT_EQ(phase(step.linear), Phase::kForward);
  EXPECT_EQ(phase(step.waiting), Phase::kBackward);
  EXPECT_EQ(phase(step.node), Phase::kBackward);
  EXPECT_EQ(phase(step.mm), Phase::kBackward);
  EXPECT_EQ(phase(step.optimizer), Phase::kOptimizer);
  EXPECT_EQ(phase(step.adam), Phase::kOptimizer);
  EXPECT_EQ(phase(step.item), Phase::kOther);
}

// Samples show the outermost call into torch alone, by the line that it was at.
TEST(Phases, a_tensors_call_of_backward_lasts_as_long_as_the_pass) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto backward = sketch.event(main, Kind::kPython, "torch/_tensor.py(623): backward", 0, 100);
  const auto other = sketch.event(main, Kind::kPython, "torch/_tensor.py(1030): split", 100, 200);
  const auto of_user = sketch.event(main, Kind::kPython, "train.py(7): backward", 200, 300);
  const std::vector<Phase> phases = phases_of(sketch.build());
  EXPECT_EQ(phases[sketch.id(backward)], Phase::kBackward);
  EXPECT_EQ(phases[sketch.id(other)], Phase::kOther);
  EXPECT_EQ(phases[sketch.id(of_user)], Phase::kOther);
}

// Lightning's loop: the optimizer is given what computes the loss, and works when that is done.
TEST(Phases, inside_an_optimizers_closure_are_those_of_the_closure) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto optimizer = sketch.event(main, Kind::kAnnotation, "Optimizer.step#AdamW.step", 0, 400);
  const auto module = sketch.event(main, Kind::kModule, "nn.Module: Linear_0", 10, 100);
  const auto linear = sketch.op(main, "aten::linear", 20, 90);
  const auto node = sketch.op(main, "autograd::engine::evaluate_function: AddmmBackward0", 110, 300);
  const auto mm = sketch.op(main, "aten::mm", 120, 290);
  const auto adam = sketch.op(main, "aten::_foreach_add_", 310, 390);
  const std::vector<Phase> phases = phases_of(sketch.build());
  const auto phase = [&](TraceSketch::Handle handle) { return phases[sketch.id(handle)]; };
  EXPECT_EQ(phase(optimizer), Phase::kOptimizer);
  EXPECT_EQ(phase(module), Phase::kForward);
  EXPECT_EQ(phase(linear), Phase::kForward);
  EXPECT_EQ(phase(node), Phase::kBackward);
  EXPECT_EQ(phase(mm), Phase::kBackward);
  EXPECT_EQ(phase(adam), Phase::kOptimizer);
}

TEST(Phases, of_device_work_are_those_of_its_launch) {
  TrainingStep step;
  const Trace trace = step.sketch.build();
  const std::vector<Phase> phases = phases_of(trace);
  EXPECT_EQ(phases[step.sketch.id(step.copy)], Phase::kCopy);
  EXPECT_EQ(phases[step.sketch.id(step.forward_kernel)], Phase::kForward);
  EXPECT_EQ(phases[step.sketch.id(step.backward_kernel)], Phase::kBackward);
}

TEST(PhaseTimes, divide_the_hosts_time_without_counting_a_wait_beside_the_work) {
  TrainingStep step;
  const Trace trace = step.sketch.build();
  const std::vector<PhaseTime> times = phase_times(trace, step_timing(trace), phases_of(trace));
  ASSERT_EQ(times.size(), static_cast<std::size_t>(kPhaseCount));
  for (int i = 0; i < kPhaseCount; ++i) EXPECT_EQ(times[static_cast<std::size_t>(i)].phase, static_cast<Phase>(i));
  for (const Phase phase : {Phase::kData, Phase::kCopy, Phase::kForward, Phase::kBackward, Phase::kOptimizer})
    EXPECT_EQ(times[static_cast<std::size_t>(phase)].cpu_ns, 100) << name_of(phase);
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kOther)].cpu_ns, 50);
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kData)].device_ns, 0);
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kCopy)].device_ns, 100);
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kForward)].device_ns, 70);
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kBackward)].device_ns, 150);
}

TEST(PhaseTimes, give_a_wait_that_no_event_shows_to_the_thread_that_works) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), autograd = sketch.thread("thread 7 (pt_autograd_0)");
  const TrackId stream = sketch.stream(0, 7);
  for (const Nanoseconds start : {0, 100}) {
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#" + std::to_string(start), start, start + 100);
    sketch.op(autograd, "autograd::engine::evaluate_function: X", start + 20, start + 80);
    const auto launch = sketch.event(autograd, Kind::kRuntime, "cudaLaunchKernel", start + 30, start + 40);
    sketch.work(stream, Kind::kKernel, "gemm", start + 50, start + 60, launch);
  }
  const Trace trace = sketch.build();
  const std::vector<PhaseTime> times = phase_times(trace, step_timing(trace), phases_of(trace));
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kBackward)].cpu_ns, 60);
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::kOther)].cpu_ns, 40);
}

TEST(Phases, know_forward_and_backward_operators_by_autograds_numbers) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), engine = sketch.thread("engine");
  const auto forward = sketch.op(main, "aten::mul", 0, 10);
  const auto unnumbered = sketch.op(main, "aten::mul", 20, 30);
  const auto backward = sketch.op(engine, "MulBackward0", 40, 50);
  const auto linked = sketch.op(engine, "aten::mul", 60, 70);
  sketch.set_cause(linked, forward);
  Trace trace = sketch.build();
  set_sequence(trace, sketch.id(forward), 3);
  set_sequence(trace, sketch.id(backward), 3, 1);
  const std::vector<Phase> phases = phases_of(trace);
  EXPECT_EQ(phases[sketch.id(forward)], Phase::kForward);
  EXPECT_EQ(phases[sketch.id(unnumbered)], Phase::kOther);
  EXPECT_EQ(phases[sketch.id(backward)], Phase::kBackward);
  EXPECT_EQ(phases[sketch.id(linked)], Phase::kBackward);
}

TEST(Phases, of_what_the_backward_pass_computes_again_are_backward) {
  TraceSketch sketch;
  const TrackId autograd = sketch.thread("thread 7 (pt_autograd_0)");
  sketch.op(autograd, "autograd::engine::evaluate_function: CheckpointFunctionBackward", 0, 100);
  const auto module = sketch.event(autograd, Kind::kModule, "nn.Module: Block_0", 10, 90);
  const Trace trace = sketch.build();
  EXPECT_EQ(phases_of(trace)[sketch.id(module)], Phase::kBackward);
}

TEST(Phases, of_a_copy_within_the_forward_pass_are_copy) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);
  const auto annotation = sketch.event(main, Kind::kAnnotation, "forward", 0, 100);
  const auto copying = sketch.op(main, "aten::copy_", 10, 50);
  const auto call = sketch.event(main, Kind::kRuntime, "cudaMemcpyAsync", 20, 30);
  const auto wait = sketch.event(main, Kind::kRuntime, "cudaStreamSynchronize", 30, 40);
  const auto reading = sketch.event(main, Kind::kRuntime, "cudaMemcpyAsync", 60, 70);
  sketch.set_copy(sketch.work(stream, Kind::kMemcpy, "Memcpy HtoD", 25, 35, call),
                  {8, MemorySpace::kPageable, MemorySpace::kDevice});
  sketch.set_copy(sketch.work(stream, Kind::kMemcpy, "Memcpy DtoH", 65, 75, reading),
                  {8, MemorySpace::kDevice, MemorySpace::kPageable});
  const Trace trace = sketch.build();
  const std::vector<Phase> phases = phases_of(trace);
  EXPECT_EQ(phases[sketch.id(annotation)], Phase::kForward);
  EXPECT_EQ(phases[sketch.id(copying)], Phase::kCopy);
  EXPECT_EQ(phases[sketch.id(wait)], Phase::kCopy);
  EXPECT_EQ(phases[sketch.id(reading)], Phase::kForward);
}

TEST(Phases, of_operators_are_forward_where_nothing_goes_backward) {
  TraceSketch sketch;
  const auto op = sketch.op(sketch.thread("main"), "aten::mm", 0, 10);
  const Trace trace = sketch.build();
  EXPECT_EQ(phases_of(trace)[sketch.id(op)], Phase::kForward);
}

TEST(Phases, of_a_call_outside_of_operators_are_those_of_the_operator_that_made_it) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), other = sketch.thread("other"), stream = sketch.stream(0, 7);
  sketch.event(main, Kind::kAnnotation, "Optimizer.step#SGD.step", 0, 100);
  const auto op = sketch.op(main, "aten::add_", 10, 20);
  const auto call = sketch.event(other, Kind::kRuntime, "cudaLaunchKernel", 30, 40);
  sketch.set_cause(call, op);
  const auto kernel = sketch.work(stream, Kind::kKernel, "add", 50, 60, call);
  const auto lost = sketch.event(stream, Kind::kKernel, "add", 70, 80);
  const Trace trace = sketch.build();
  const std::vector<Phase> phases = phases_of(trace);
  EXPECT_EQ(phases[sketch.id(kernel)], Phase::kOptimizer);
  EXPECT_EQ(phases[sketch.id(lost)], Phase::kOther);
}

TEST(Phases, are_not_lost_behind_a_call_whose_return_was_not_seen) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kAnnotation, "forward", 10, 100);
  const auto apply = sketch.event(main, Kind::kPython, "<built-in method apply of FunctionMeta object>", 20, 500);
  const auto python = sketch.event(main, Kind::kPython, "call", 30, 60);
  const auto after = sketch.event(main, Kind::kPython, "log", 200, 300);
  Trace trace = sketch.build();
  trace.lanes.append(sketch.id(apply), 1);
  const std::vector<Phase> phases = phases_of(trace);
  EXPECT_EQ(phases[sketch.id(python)], Phase::kForward);
  EXPECT_EQ(phases[sketch.id(apply)], Phase::kOther);
  EXPECT_EQ(phases[sketch.id(after)], Phase::kOther);
}

TEST(PhaseTimes, of_an_empty_trace_are_nothing) {
  TraceSketch sketch;
  const Trace trace = sketch.build();
  for (const PhaseTime& time : phase_times(trace, step_timing(trace), phases_of(trace))) {
    EXPECT_EQ(time.cpu_ns, 0);
    EXPECT_EQ(time.device_ns, 0);
  }
}

TEST(Phases, have_a_word_each) {
  EXPECT_EQ(name_of(Phase::kData), "data");
  EXPECT_EQ(name_of(Phase::kOther), "other");
}

}  // namespace
}  // namespace telltale
