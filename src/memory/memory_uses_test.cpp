#include "memory/memory_uses.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/host_work.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

std::map<std::uint64_t, UsedBlock> blocks_of(const Trace& trace, DeviceId device = 0) {
  std::map<std::uint64_t, UsedBlock> by_address;
  for (const UsedBlock& block : used_blocks(trace, device, phase_by_event(trace, host_work_by_event(trace))))
    by_address[block.address] = block;
  return by_address;
}

// Addresses say what the blocks are: 1 a parameter, 2 kept for backward, 3 a temporary, 4 a gradient, 5 state, 6 input.
struct TrainingSketch {
  TraceSketch sketch;
  TrackId thread = sketch.thread("main");

  Trace built() {
    sketch.op(thread, "aten::empty", 0, 10);
    sketch.allocate(thread, 5, 400, 0, 1);
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#0", 100, 1000);
    sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", 190, 310);
    const auto forward = sketch.op(thread, "aten::mm", 200, 300);
    sketch.allocate(thread, 210, 64, 0, 2);
    sketch.allocate(thread, 220, 32, 0, 3);
    sketch.allocate(thread, 230, -32, 0, 3);
    const auto backward = sketch.op(thread, "autograd::engine::evaluate_function: MmBackward0", 400, 500);
    sketch.set_cause(backward, forward);
    sketch.allocate(thread, 410, 400, 0, 4);
    sketch.allocate(thread, 420, -64, 0, 2);
    sketch.event(thread, Kind::kAnnotation, "Optimizer.step#Adam.step", 600, 700);
    sketch.op(thread, "aten::zeros_like", 610, 620);
    sketch.allocate(thread, 615, 800, 0, 5);
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#1", 1000, 1500);
    sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", 1090, 1210);
    sketch.op(thread, "aten::mm", 1100, 1200);
    sketch.allocate(thread, 1300, -400, 0, 4);
    return sketch.build();
  }
};

TEST(MemoryUses, follow_from_the_phase_that_makes_a_block_and_the_one_that_still_finds_it) {
  const auto blocks = blocks_of(TrainingSketch().built());
  EXPECT_EQ(name_of(blocks.at(1).use), "parameters");
  EXPECT_EQ(name_of(blocks.at(2).use), "activations");
  EXPECT_EQ(name_of(blocks.at(3).use), "temporaries");
  EXPECT_EQ(name_of(blocks.at(4).use), "gradients");
  EXPECT_EQ(name_of(blocks.at(5).use), "optimizer_state");
  for (const auto& [address, block] : blocks) EXPECT_FALSE(block.is_noted) << address;
}

TEST(MemoryUses, what_the_forward_pass_has_made_when_memory_runs_out_is_kept_for_backward) {
  TrainingSketch training;
  // In the second step's forward pass: one block is there when memory runs out, one is freed before.
  training.sketch.allocate(training.thread, 1110, 64, 0, 7);
  training.sketch.allocate(training.thread, 1120, 32, 0, 8);
  training.sketch.allocate(training.thread, 1130, -32, 0, 8);
  training.sketch.allocate(training.thread, 1290, -64, 0, 7);
  Trace trace = training.built();
  EXPECT_EQ(name_of(blocks_of(trace).at(7).use), "temporaries");
  trace.allocator_events.push_back({.time = 1190, .bytes = 64, .action = AllocatorAction::kOutOfMemory});
  EXPECT_EQ(name_of(blocks_of(trace).at(7).use), "activations");
  EXPECT_EQ(name_of(blocks_of(trace).at(8).use), "temporaries");
}

// Between the forward pass and the backward pass, in no module and without autograd, as a metric is computed: 7 goes
// with the variable that has it, behind the operator; 8 is there until the next step, and 9 until the next forward
// pass.
TEST(MemoryUses, what_the_program_computes_on_the_way_is_temporary_where_it_goes_before_the_backward_pass) {
  TrainingSketch training;
  TraceSketch& sketch = training.sketch;
  sketch.op(training.thread, "aten::mm", 320, 380);
  for (const std::uint64_t address : {7, 8}) sketch.allocate(training.thread, 330, 5000, 0, address);
  sketch.allocate(training.thread, 390, -5000, 0, 7);
  sketch.op(training.thread, "aten::mm", 720, 780);
  sketch.allocate(training.thread, 730, 5000, 0, 9);
  sketch.allocate(training.thread, 1080, -5000, 0, 8);
  sketch.allocate(training.thread, 1080, -5000, 0, 9);
  const auto blocks = blocks_of(training.built());
  EXPECT_EQ(name_of(blocks.at(7).use), "temporaries");
  EXPECT_EQ(name_of(blocks.at(8).use), "other");
  EXPECT_EQ(name_of(blocks.at(9).use), "temporaries");
}

TEST(MemoryUses, a_block_that_stays_but_has_no_gradient_of_its_size_is_no_parameter) {
  TrainingSketch training;
  training.sketch.allocate(training.thread, 6, 123, 0, 7);
  EXPECT_EQ(blocks_of(training.built()).at(7).use, MemoryUse::kOther);
}

TEST(MemoryUses, what_the_program_notes_decides_first) {
  TrainingSketch training;
  Trace& trace = training.sketch.trace();
  const auto text = [&](std::string_view words) { return trace.strings.intern(words); };
  trace.noted_tensors.push_back({450, 2, 64, 0, text("kv_cache"), text("cache")});
  trace.noted_tensors.push_back({450, 9, 1000, 0, text("parameter"), text("head.weight")});
  const Trace built = training.built();
  const auto blocks = blocks_of(built);
  // It was noted 30 ns behind its free, which clocks that differ explain.
  EXPECT_EQ(blocks.at(2).use, MemoryUse::kKvCache);
  EXPECT_TRUE(blocks.at(2).is_noted);
  // A tensor from before the recording that was never freed in it.
  EXPECT_EQ(blocks.at(9).use, MemoryUse::kParameters);
  EXPECT_EQ(blocks.at(9).allocated, UsedBlock::kBeforeTheTrace);
  EXPECT_EQ(built.strings[blocks.at(9).name], "head.weight");
}

// A batch that a worker of a loader has put into shared memory: nobody allocates it, and the allocator held nothing
// when the trace began. One that it may have held then counts.
TEST(MemoryUses, a_batch_that_the_allocator_cannot_have_held_is_not_its_memory) {
  for (const std::int64_t before : {0, 5000}) {
    TrainingSketch training;
    Trace& trace = training.sketch.trace();
    trace.noted_tensors.push_back({450, 9, 5000, 0, trace.strings.intern("input"), trace.strings.intern("batch")});
    Trace built = training.built();
    std::int64_t total = before;
    for (std::size_t row = 0; row < built.memory.size(); ++row)
      built.memory.total_allocated[row] = total += built.memory.bytes[row];
    EXPECT_EQ(blocks_of(built).contains(9), before > 0) << before;
    EXPECT_TRUE(blocks_of(built).contains(2));
  }
}

// Each step makes an activation, 100 and on, that its backward pass frees, and a gradient of 400 bytes. In the first
// one the model also makes a mask (1), a copy of its weights (2), the result that the next step replaces (3), and each
// step adds one to a list (200 and on). What is still there at the end is freed then.
TEST(MemoryUses, what_the_forward_pass_makes_once_and_for_all_is_kept_for_no_backward_pass) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds at = 1000 * step;
    const auto own = static_cast<std::uint64_t>(step);
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), at, at + 1000);
    sketch.event(thread, Kind::kModule, "nn.Module: Net_0", at + 10, at + 310);
    const auto forward = sketch.op(thread, "aten::mm", at + 20, at + 300);
    if (step == 0) {
      sketch.allocate(thread, 30, 4096, 0, 1);
      sketch.allocate(thread, 40, 400, 0, 2);
      sketch.allocate(thread, 50, 80, 0, 3);
    }
    if (step == 1) sketch.allocate(thread, at + 60, -80, 0, 3);
    sketch.allocate(thread, at + 70, 64, 0, 100 + own);
    sketch.allocate(thread, at + 80, 32, 0, 200 + own);
    const auto backward = sketch.op(thread, "autograd::engine::evaluate_function: MmBackward0", at + 400, at + 500);
    sketch.set_cause(backward, forward);
    sketch.allocate(thread, at + 410, 400, 0, 300 + own);
    sketch.allocate(thread, at + 420, -64, 0, 100 + own);
    sketch.event(thread, Kind::kAnnotation, "Optimizer.step#Adam.step", at + 600, at + 700);
    sketch.allocate(thread, at + 800, -400, 0, 300 + own);
  }
  sketch.op(thread, "aten::mm", 1000 * kSteps, 1000 * kSteps + 10);
  for (const auto& [address, bytes] : {std::pair{1, 4096}, std::pair{2, 400}})
    sketch.allocate(thread, 1000 * kSteps + 50, -bytes, 0, static_cast<std::uint64_t>(address));
  const auto blocks = blocks_of(sketch.build());
  EXPECT_EQ(name_of(blocks.at(1).use), "other");
  EXPECT_EQ(name_of(blocks.at(2).use), "parameters");
  EXPECT_EQ(name_of(blocks.at(3).use), "activations");
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    EXPECT_EQ(name_of(blocks.at(100 + step).use), "activations") << step;
    EXPECT_EQ(name_of(blocks.at(300 + step).use), "gradients") << step;
  }
  // Nothing runs backward behind what the last step made.
  for (std::uint64_t step = 0; step + 1 < kSteps; ++step)
    EXPECT_EQ(name_of(blocks.at(200 + step).use), "activations") << step;
}

// Seven calls of a decoder, two prompts. At line 9 each puts what cat makes of two layers into its cache, where `sizes`
// says how long that is; what cat makes at line 10 goes with its call.
std::map<std::uint64_t, UsedBlock> decoded(const std::vector<std::int64_t>& sizes) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (std::size_t call = 0; call < sizes.size(); ++call) {
    const auto at = static_cast<Nanoseconds>(1000 * call);
    sketch.event(thread, Kind::kModule, "nn.Module: Decoder_0", at, at + 800);
    const auto kept = sketch.op(thread, "aten::cat", at + 100, at + 200);
    sketch.set_call_stack(kept, "gen.py(9): forward;gen.py(30): main");
    for (const std::uint64_t layer : {0, 1}) {
      sketch.allocate(thread, at + 110, sizes[call], 0, 100 * (call + 1) + layer);
      if (call > 0) sketch.allocate(thread, at + 150, -sizes[call - 1], 0, 100 * call + layer);
    }
    const auto passing = sketch.op(thread, "aten::cat", at + 300, at + 400);
    sketch.set_call_stack(passing, "gen.py(10): forward;gen.py(30): main");
    sketch.allocate(thread, at + 310, sizes[call], 0, 100 * (call + 1) + 50);
    sketch.allocate(thread, at + 500, -sizes[call], 0, 100 * (call + 1) + 50);
  }
  return blocks_of(sketch.build());
}

TEST(MemoryUses, what_cat_makes_longer_with_each_call_of_a_decoder_is_its_cache) {
  const auto blocks = decoded({64, 80, 96, 112, 48, 64, 80, 96});
  for (std::uint64_t call = 1; call <= 8; ++call) {
    EXPECT_EQ(blocks.at(100 * call).use, MemoryUse::kKvCache) << call;
    EXPECT_EQ(blocks.at(100 * call + 1).use, MemoryUse::kKvCache) << call;
    EXPECT_NE(blocks.at(100 * call + 50).use, MemoryUse::kKvCache) << call;
  }
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{64, 64, 64, 64, 64, 64}, {64, 80, 96, 64, 80, 96}, {64, 80, 112, 176, 304}})
    for (const auto& [address, block] : decoded(sizes)) EXPECT_NE(block.use, MemoryUse::kKvCache) << address;
}

// At a thread's first product, behind the result's block; as large a block of a later product that stays is none.
TEST(MemoryUses, what_cublas_works_in_is_workspace) {
  constexpr std::int64_t kHopper = 32 << 20, kBefore = 8'519'680;
  TrainingSketch training;
  TraceSketch& sketch = training.sketch;
  const TrackId other = sketch.thread("pt_autograd_0");
  sketch.op(training.thread, "aten::addmm", 20, 40);
  sketch.allocate(training.thread, 25, kHopper, 0, 10);  // the result
  sketch.allocate(training.thread, 30, kHopper, 0, 11);
  sketch.op(training.thread, "aten::addmm", 50, 60);
  sketch.allocate(training.thread, 55, kHopper, 0, 12);
  sketch.op(other, "aten::mm", 440, 450);
  sketch.allocate(other, 445, kBefore, 0, 13);
  sketch.op(other, "aten::mm", 460, 470);
  sketch.allocate(other, 465, 4 << 20, 0, 14);
  const auto blocks = blocks_of(training.built());
  for (const auto& [address, block] : blocks)
    EXPECT_EQ(block.use == MemoryUse::kWorkspace, address == 11 || address == 13) << address;
}

// A snapshot: no operators, stacks alone. Each request comes a nanosecond behind the one before.
struct LogSketch {
  TraceSketch sketch;
  TrackId thread = sketch.thread("log");
  Nanoseconds now = 0;
  std::map<std::uint64_t, std::int64_t> live;

  static constexpr std::string_view kConstruction = "torch/nn/modules/module.py(900): _apply;train.py(5): main";
  static constexpr std::string_view kForward =
      "model.py(7): forward;torch/nn/modules/module.py(1500): _call_impl;train.py(9): main";
  static constexpr std::string_view kOptimizer = "torch/optim/adam.py(100): _init_group;train.py(11): main";

  void allocate(std::uint64_t address, std::int64_t bytes, std::string_view stack, std::string_view pool = {}) {
    Trace& trace = sketch.trace();
    trace.allocator_events.push_back({.time = ++now,
                                      .address = address,
                                      .bytes = bytes,
                                      .device = 0,
                                      .pool = trace.strings.intern(pool),
                                      .call_stack = trace.strings.intern(stack)});
    sketch.allocate(thread, now, bytes, 0, address);
    live[address] = bytes;
  }
  void free(std::uint64_t address) {
    const std::int64_t bytes = live.at(address);
    sketch.trace().allocator_events.push_back(
        {.time = ++now, .address = address, .bytes = bytes, .device = 0, .action = AllocatorAction::kFreeCompleted});
    sketch.allocate(thread, now, -bytes, 0, address);
  }
  std::map<std::uint64_t, UsedBlock> blocks() { return blocks_of(sketch.build()); }
};

TEST(MemoryUses, of_a_log_without_operators_follow_from_frames) {
  LogSketch log;
  log.allocate(1, 400, LogSketch::kConstruction);
  log.allocate(2, 64, LogSketch::kForward);
  log.allocate(8, 16, "model.py(8): forward;torch/nn/modules/module.py(1500): _call_impl;train.py(9): main", "1.0");
  log.allocate(3, 400, "");
  log.allocate(4, 7, "torch/autograd/graph.py(800): _engine_run_backward;train.py(10): main");
  log.free(2);
  log.free(4);
  log.allocate(5, 800, LogSketch::kOptimizer);
  log.allocate(6, 64, LogSketch::kForward);
  log.allocate(7, 32, "at::cuda::getNewWorkspace();model.py(7): forward");
  const auto blocks = log.blocks();
  EXPECT_EQ(blocks.at(1).use, MemoryUse::kParameters);
  EXPECT_EQ(blocks.at(2).use, MemoryUse::kActivations);
  EXPECT_EQ(blocks.at(3).use, MemoryUse::kGradients);
  EXPECT_EQ(blocks.at(4).use, MemoryUse::kTemporaries);
  EXPECT_EQ(blocks.at(5).use, MemoryUse::kOptimizerState);
  EXPECT_EQ(blocks.at(7).use, MemoryUse::kWorkspace);
  EXPECT_EQ(blocks.at(8).use, MemoryUse::kCudaGraphs);
}

// In a log, the product's result is told by its stack; autograd's thread has none.
TEST(MemoryUses, of_a_log_what_cublas_works_in_is_workspace) {
  constexpr std::int64_t kWorkspace = 32 << 20;
  LogSketch log;
  log.allocate(1, kWorkspace, LogSketch::kConstruction);
  log.allocate(2, kWorkspace, LogSketch::kConstruction);
  for (int step = 0; step < 2; ++step) {
    log.allocate(10, kWorkspace, LogSketch::kForward);  // the result
    if (step == 0) log.allocate(11, kWorkspace, LogSketch::kForward);
    log.allocate(20, kWorkspace, "");
    if (step == 0) log.allocate(21, kWorkspace, "");
    log.allocate(22, kWorkspace, "");  // a gradient, which the last step leaves
    if (step == 1) break;
    for (const std::uint64_t address : {10, 20, 22}) log.free(address);
  }
  for (const auto& [address, block] : log.blocks())
    EXPECT_EQ(block.use == MemoryUse::kWorkspace, address == 11 || address == 21) << address;
}

TEST(MemoryUses, what_computes_nothing_has_no_parameters) {
  LogSketch log;
  log.allocate(1, 400, "train.py(5): main");
  EXPECT_EQ(log.blocks().at(1).use, MemoryUse::kOther);
}

// Gradients go before the next forward pass, as nothing but zero_grad() of the module needs them: 3 is one, though as
// large as the temporary 4, which the pass itself frees.
TEST(MemoryUses, what_is_there_when_a_backward_pass_is_done_is_gradient_where_there_is_no_optimizer) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::empty", 0, 10);
  sketch.allocate(thread, 5, 400, 0, 1);
  for (Nanoseconds step = 1000; step <= 2000; step += 1000) {
    sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", step, step + 100);
    const auto forward = sketch.op(thread, "aten::mm", step + 10, step + 90);
    sketch.allocate(thread, step + 20, 64, 0, 2);
    for (const Nanoseconds at : {step + 200, step + 300}) {
      const auto op = sketch.op(thread, "autograd::engine::evaluate_function: MmBackward0", at, at + 90);
      sketch.set_cause(op, forward);
    }
    sketch.allocate(thread, step + 210, 400, 0, 4);
    sketch.allocate(thread, step + 220, -64, 0, 2);
    sketch.allocate(thread, step + 310, 400, 0, 3);
    sketch.allocate(thread, step + 380, -400, 0, 4);
    sketch.allocate(thread, step + 500, -400, 0, 3);
  }
  const auto blocks = blocks_of(sketch.build());
  EXPECT_EQ(blocks.at(1).use, MemoryUse::kParameters);
  EXPECT_EQ(blocks.at(3).use, MemoryUse::kGradients);
  EXPECT_EQ(blocks.at(4).use, MemoryUse::kTemporaries);
}

// In a log, the pass ends with the last that it makes; what has no parameter's size goes a little later.
TEST(MemoryUses, of_a_log_without_an_optimizer_gradients_are_what_is_there_in_the_end_with_a_parameters_size) {
  LogSketch log;
  log.allocate(1, 400, LogSketch::kConstruction);
  for (int step = 0; step < 2; ++step) {
    log.allocate(2, 64, LogSketch::kForward);
    log.allocate(5, 400, "");
    log.allocate(4, 64, "");
    log.free(5);
    log.allocate(3, 400, "");
    for (const std::uint64_t address : {4, 2, 3}) log.free(address);
  }
  const auto blocks = log.blocks();
  EXPECT_EQ(blocks.at(3).use, MemoryUse::kGradients);
  EXPECT_EQ(blocks.at(4).use, MemoryUse::kTemporaries);
  EXPECT_EQ(blocks.at(5).use, MemoryUse::kTemporaries);
}

// Two weights of 100 and one of 64, with a temporary of 64 before its gradient.
TEST(MemoryUses, of_a_backward_pass_that_never_ended_follow_from_the_one_before) {
  LogSketch log;
  log.allocate(1, 100, LogSketch::kConstruction);
  log.allocate(2, 64, LogSketch::kConstruction);
  for (int step = 0; step < 2; ++step) {
    log.allocate(10, 50, LogSketch::kForward);
    log.allocate(20, 100, "");
    log.allocate(21, 64, "");
    log.allocate(22, 64, "");
    if (step == 1) break;
    log.free(21);
    log.free(10);
    log.allocate(30, 200, LogSketch::kOptimizer);
    log.free(20);
    log.free(22);
  }
  const auto blocks = log.blocks();
  EXPECT_EQ(blocks.at(20).use, MemoryUse::kGradients);
  EXPECT_EQ(blocks.at(21).use, MemoryUse::kTemporaries);
  EXPECT_EQ(blocks.at(22).use, MemoryUse::kGradients);
}

TEST(MemoryUses, of_a_first_backward_pass_that_never_ended_follow_from_the_sizes_of_parameters) {
  LogSketch log;
  log.allocate(1, 100, LogSketch::kConstruction);
  log.allocate(10, 50, LogSketch::kForward);
  log.allocate(20, 100, "");
  log.allocate(21, 50, "");
  const auto blocks = log.blocks();
  EXPECT_EQ(blocks.at(20).use, MemoryUse::kGradients);
  EXPECT_EQ(blocks.at(21).use, MemoryUse::kTemporaries);
}

}  // namespace
}  // namespace telltale
