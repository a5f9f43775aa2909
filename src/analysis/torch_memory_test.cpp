#include "analysis/torch_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(MemoryChanges, counts_host_and_device_apart_and_both_ends_of_the_span) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.allocate(main, 10, 100, kHost);
  sketch.allocate(main, 20, 1000, 0);
  sketch.allocate(main, 30, -40, kHost);
  const Trace trace = sketch.build();

  const MemoryChanges changes(trace);
  auto walk = changes.walk(0);
  const MemoryChange all = walk.during(10, 30);
  EXPECT_EQ(all.host, 60);
  EXPECT_EQ(all.device, 1000);
  EXPECT_EQ(walk.during(11, 29).device, 1000);
  EXPECT_EQ(walk.during(21, 40).host, -40);
  EXPECT_EQ(walk.during(31, 40).host, 0);
}

TEST(MemoryChanges, counts_all_threads_of_the_process_and_no_other_process) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId autograd = sketch.thread("autograd");
  const TrackId elsewhere = sketch.thread("elsewhere");
  sketch.trace().processes.push_back({});
  sketch.trace().tracks[elsewhere].process = 1;
  sketch.allocate(main, 10, 1, 0);
  sketch.allocate(autograd, 11, 2, 0);
  sketch.allocate(elsewhere, 12, 4, 0);
  const Trace trace = sketch.build();

  const MemoryChanges changes(trace);
  EXPECT_EQ(changes.walk(0).during(0, 100).device, 3);
  EXPECT_EQ(changes.walk(1).during(0, 100).device, 4);
}

TEST(MemoryChanges, agree_with_adding_up_whatever_lies_in_the_span) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> time(0, 300), bytes(-50, 50), length(0, 80);
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  for (int i = 0; i < 500; ++i) sketch.allocate(main, time(random), bytes(random), i % 2 - 1);
  const Trace trace = sketch.build();

  const MemoryChanges changes(trace);
  auto walk = changes.walk(0);
  for (Nanoseconds start = 0; start < 310; start += 3) {
    const Nanoseconds end = start + length(random);
    MemoryChange expected;
    for (std::size_t row = 0; row < trace.memory.size(); ++row) {
      if (trace.memory.time[row] < start || trace.memory.time[row] > end) continue;
      (trace.memory.device[row] == kHost ? expected.host : expected.device) += trace.memory.bytes[row];
    }
    const MemoryChange change = walk.during(start, end);
    EXPECT_EQ(change.host, expected.host) << start << " to " << end;
    EXPECT_EQ(change.device, expected.device) << start << " to " << end;
  }
}

using Category = MemoryCategory;
using Bytes = std::map<Category, std::int64_t>;

constexpr Nanoseconds kMs = 1'000'000;

// A step of training: the forward pass until 20 ms, backward until 40, the optimizer until 60. Times are in ms.
struct TrainingStep {
  TraceSketch sketch;
  TrackId main = sketch.thread("main");
  TraceSketch::Handle linear = at(Kind::kOperator, "aten::addmm", 4, 8);
  TraceSketch::Handle loss = at(Kind::kOperator, "aten::nll_loss", 12, 16);
  TraceSketch::Handle backward = at(Kind::kOperator, "AddmmBackward0", 22, 38);
  std::vector<TensorNote> notes;

  TrainingStep() {
    at(Kind::kOperator, "aten::randn", 0, 2);
    at(Kind::kModule, "nn.Module: Linear_0", 3, 9);
    at(Kind::kOperator, "autograd::engine::evaluate_function: AddmmBackward0", 21, 40);
    at(Kind::kOperator, "aten::mm", 24, 30);
    at(Kind::kAnnotation, "Optimizer.step#SGD.step", 41, 60);
    at(Kind::kOperator, "aten::add_", 42, 50);
    sketch.set_cause(backward, loss);
  }
  TraceSketch::Handle at(Kind kind, std::string_view name, Nanoseconds start, Nanoseconds end) {
    return sketch.event(main, kind, name, start * kMs, end * kMs);
  }
  void change(Nanoseconds time, std::int64_t bytes, std::uint64_t address, DeviceId device = kHost) {
    sketch.allocate(main, time * kMs, bytes, device, address);
  }
  void note(Nanoseconds time, std::uint64_t address, std::int64_t bytes, Category category) {
    notes.push_back({time * kMs, address, bytes, category});
  }
  std::vector<CategorizedChange> changes() {
    Trace trace = sketch.build();
    OperatorInfo info;
    info.forward_thread = 1;
    trace.operators.append(sketch.id(backward), info);
    return memory_by_category(trace, kHost, notes);
  }
  Bytes created() {
    Bytes bytes;
    for (const CategorizedChange& change : changes())
      if (change.action != MemoryAction::kDestroy) bytes[change.category] += change.bytes;
    return bytes;
  }
};

TEST(MemoryCategories, follow_from_where_a_block_is_allocated_and_how_long_it_lives) {
  TrainingStep step;
  step.change(1, 1, 0x1);        // given to the model: read by the backward pass, made by no layer
  step.change(5, 2, 0x2);        // inside a layer
  step.change(6, 4, 0x3);        // and freed by the same operator
  step.change(7, -4, 0x3);       //
  step.change(13, 8, 0x4);       // by an operator that has a backward one
  step.change(25, 16, 0x5);      // by the backward pass
  step.change(26, 32, 0x6);      //
  step.change(27, -32, 0x6);     //
  step.change(43, 64, 0x7);      // by the optimizer, and not noted
  step.change(39, -2, 0x2);      //
  step.change(70, 128, 0x8);     // by nobody
  step.change(71, 256, 0x9, 0);  // on another device
  EXPECT_EQ(step.created(), (Bytes{{Category::kInput, 1},
                                   {Category::kActivation, 2 + 8},
                                   {Category::kTemporary, 4 + 32},
                                   {Category::kAutogradDetail, 16},
                                   {Category::kUnknown, 64 + 128}}));
}

TEST(MemoryCategories, are_what_the_program_notes_of_a_tensor_while_it_lives) {
  TrainingStep step;
  step.change(25, 16, 0x5);
  step.change(43, 64, 0x7);
  step.change(44, -16, 0x5);
  step.change(45, 32, 0x5);  // another block at the same place
  step.note(41, 0x5, 16, Category::kGradient);
  step.note(60, 0x7, 64, Category::kOptimizerState);
  EXPECT_EQ(step.created(),
            (Bytes{{Category::kGradient, 16}, {Category::kOptimizerState, 64}, {Category::kUnknown, 32}}));
}

TEST(MemoryCategories, of_a_block_with_several_notes_are_decided_as_torch_does) {
  TrainingStep step;
  step.change(5, 2, 0x2);
  step.note(10, 0x2, 2, Category::kParameter);
  step.note(11, 0x2, 2, Category::kGradient);
  step.note(12, 0x2, 2, Category::kInput);
  EXPECT_EQ(step.created(), (Bytes{{Category::kParameter, 2}}));
}

TEST(MemoryCategories, do_not_take_the_result_of_a_layer_for_data_because_another_layer_is_given_it) {
  TrainingStep step;
  step.change(5, 2, 0x2);
  step.note(10, 0x2, 2, Category::kInput);
  EXPECT_EQ(step.created(), (Bytes{{Category::kActivation, 2}}));
}

TEST(MemoryCategories, count_what_was_there_before_from_the_start_and_once) {
  TrainingStep step;
  step.change(5, 2, 0x2);
  step.note(3, 0xA, 1000, Category::kParameter);
  step.note(60, 0xA, 1000, Category::kParameter);
  step.change(50, -77, 0xB);  // freed, and never seen before
  const auto changes = step.changes();
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes[0].action, MemoryAction::kPreexisting);
  EXPECT_EQ(changes[1].action, MemoryAction::kPreexisting);
  EXPECT_EQ(changes[0].time, 5 * kMs);
  EXPECT_EQ(changes[0].bytes + changes[1].bytes, 1077);
  EXPECT_EQ(changes[3].bytes, -77);
  EXPECT_EQ(changes[3].category, Category::kUnknown);
}

TEST(MemoryCategories, end_a_block_that_was_there_before_where_its_place_is_used_again) {
  TrainingStep step;
  step.note(1, 0x2, 1000, Category::kGradient);
  step.change(5, 2, 0x2);
  const auto memory = memory_over_time(step.changes());
  ASSERT_EQ(memory.size(), 1U);
  EXPECT_EQ(memory[0].bytes[static_cast<std::size_t>(Category::kGradient)], 0);
  EXPECT_EQ(memory[0].bytes[static_cast<std::size_t>(Category::kActivation)], 2);
}

TEST(MemoryCategories, over_time_have_one_entry_a_microsecond) {
  const std::vector<CategorizedChange> changes = {
      {1000, MemoryAction::kPreexisting, 10, Category::kParameter},
      {1999, MemoryAction::kCreate, 5, Category::kActivation},
      {2000, MemoryAction::kCreate, 3, Category::kActivation},
      {4500, MemoryAction::kDestroy, -5, Category::kActivation},
  };
  const auto memory = memory_over_time(changes);
  ASSERT_EQ(memory.size(), 3U);
  const auto activation = static_cast<std::size_t>(Category::kActivation);
  EXPECT_EQ(memory[0].time, 1000);
  EXPECT_EQ(memory[0].bytes[activation], 5);
  EXPECT_EQ(memory[1].bytes[activation], 8);
  EXPECT_EQ(memory[2].time, 4000);
  EXPECT_EQ(memory[2].bytes[activation], 3);
  EXPECT_EQ(memory[2].bytes[static_cast<std::size_t>(Category::kParameter)], 10);
}

TEST(MemoryCategories, of_nothing_are_nothing) {
  EXPECT_TRUE(memory_by_category(Trace(), kHost, {}).empty());
  EXPECT_TRUE(memory_over_time({}).empty());
}

}  // namespace

}  // namespace telltale
