// A program of three steps whose memory is worked out by hand.
#include "memory/memory_what_if.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

// 40 MiB of weights that stay, and in each of three steps 60 MiB of activations times the batch.
Trace program(std::int64_t batch) {
  Trace trace;
  const auto add = [&](AllocatorAction action, std::uint64_t address, std::int64_t mebibytes, std::string_view stack) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = address,
                                      .bytes = mebibytes * kMiB,
                                      .call_stack = trace.strings.intern(stack),
                                      .action = action});
  };
  add(AllocatorAction::kSegmentAllocate, kBase, 40, "");
  add(AllocatorAction::kAllocate, kBase, 40, "train.py(3): main");
  add(AllocatorAction::kSegmentAllocate, 2 * kBase, 60 * batch, "");
  for (int step = 0; step < 3; ++step) {
    add(AllocatorAction::kAllocate, 2 * kBase, 60 * batch, "torch/nn/functional.py(9): linear;model.py(7): forward");
    add(AllocatorAction::kFreeRequested, 2 * kBase, 60 * batch, "");
    add(AllocatorAction::kFreeCompleted, 2 * kBase, 60 * batch, "");
  }
  return trace;
}

// A log as a snapshot has it: every block in a segment of its own, and an entry is a nanosecond.
class LoggedProgram {
 public:
  void allocate(std::uint64_t number, std::int64_t mebibytes, std::string_view stack) {
    if (segments_.insert(number).second) add(AllocatorAction::kSegmentAllocate, number, mebibytes, stack);
    bytes_[number] = mebibytes * kMiB;
    add(AllocatorAction::kAllocate, number, mebibytes, stack);
    note(number, bytes_[number]);
  }
  void free(std::uint64_t number) {
    add(AllocatorAction::kFreeRequested, number, bytes_[number] / kMiB, "");
    add(AllocatorAction::kFreeCompleted, number, bytes_[number] / kMiB, "");
    note(number, -bytes_[number]);
  }
  Trace trace;

 private:
  void add(AllocatorAction action, std::uint64_t number, std::int64_t mebibytes, std::string_view stack) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = number * kBase,
                                      .bytes = mebibytes * kMiB,
                                      .call_stack = trace.strings.intern(stack),
                                      .action = action});
  }
  void note(std::uint64_t number, std::int64_t bytes) {
    allocated_ += bytes;
    trace.memory.time.push_back(trace.allocator_events.back().time);
    trace.memory.address.push_back(number * kBase);
    trace.memory.bytes.push_back(bytes);
    trace.memory.total_allocated.push_back(allocated_);
    trace.memory.total_reserved.push_back(-1);
    trace.memory.device.push_back(0);
    trace.memory.track.push_back(0);
    trace.memory.event.push_back(kNoEvent);
  }
  std::set<std::uint64_t> segments_;
  std::map<std::uint64_t, std::int64_t> bytes_;
  std::int64_t allocated_ = 0;
};

TEST(MemoryWhatIf, scales_what_comes_and_goes_and_says_which_line_fails) {
  const Trace trace = program(1);
  const MemoryWhatIf twice = memory_what_if(trace, 0, {.batch_factor = 2});
  EXPECT_EQ(twice.before.peak_reserved, 100 * kMiB);
  EXPECT_EQ(twice.low.peak_reserved, 160 * kMiB);
  EXPECT_EQ(twice.high.peak_reserved, 160 * kMiB);
  EXPECT_EQ(twice.verdict(), MemoryWhatIf::Verdict::kFits);

  const MemoryWhatIf small = memory_what_if(trace, 0, {.capacity = 159 * kMiB, .batch_factor = 2});
  EXPECT_EQ(small.verdict(), MemoryWhatIf::Verdict::kFails);
  ASSERT_TRUE(small.high.failure);
  ASSERT_TRUE(small.high.failure->source);
  EXPECT_EQ(short_place(*small.high.failure->source), "model.py:7");
  EXPECT_EQ(small.high.failure->requested, 120 * kMiB);
  EXPECT_EQ(small.high.failure->reserved, 40 * kMiB);
}

TEST(MemoryWhatIf, says_of_settings_that_count_from_a_limit_that_there_is_none) {
  const Trace trace = program(1);
  const auto remarks = [&](std::string_view settings, std::optional<std::int64_t> capacity) {
    return memory_what_if(trace, 0, {.capacity = capacity, .settings = parse_allocator_settings(settings).value()})
        .remarks;
  };
  ASSERT_EQ(remarks("per_process_memory_fraction:0.5", {}).size(), 1);
  EXPECT_TRUE(remarks("per_process_memory_fraction:0.5", {})[0].contains("per_process_memory_fraction has no effect"));
  EXPECT_TRUE(remarks("per_process_memory_fraction:0.5", 4096 * kMiB).empty());
  EXPECT_TRUE(remarks("max_split_size_mb:64", {}).empty());
}

TEST(MemoryWhatIf, finds_the_largest_batch_that_fits) {
  // 40 + 60 f ≤ 250: f ≤ 3.5, of which the next lower step of the bisection between 2 and 4 is found.
  const MemoryWhatIf found = memory_what_if(program(1), 0, {.capacity = 250 * kMiB, .wants_largest_batch = true});
  ASSERT_TRUE(found.largest_batch);
  EXPECT_GE(*found.largest_batch, 3.5 - 0.08);
  EXPECT_LE(*found.largest_batch, 3.5);
  const MemoryWhatIf none = memory_what_if(program(1), 0, {.capacity = 30 * kMiB, .wants_largest_batch = true});
  EXPECT_EQ(none.largest_batch, 0);
}

TEST(MemoryWhatIf, gives_a_range_where_a_block_has_the_size_of_one_that_stays) {
  Trace trace = program(1);
  // 40 MiB, as the weights: their gradient, or an activation that happens to be as large.
  for (const AllocatorAction action : {AllocatorAction::kSegmentAllocate, AllocatorAction::kAllocate,
                                       AllocatorAction::kFreeRequested, AllocatorAction::kFreeCompleted})
    trace.allocator_events.push_back({.time = 100, .address = 3 * kBase, .bytes = 40 * kMiB, .action = action});
  const MemoryWhatIf twice = memory_what_if(trace, 0, {.batch_factor = 2});
  // 40 + 120 cached + 0: the 40 MiB come out of the 120; 80 do, too.
  EXPECT_EQ(twice.low.peak_allocated, 160 * kMiB);
  EXPECT_EQ(twice.high.peak_allocated, 160 * kMiB);
  const MemoryWhatIf half = memory_what_if(trace, 0, {.batch_factor = 0.5});
  // 40 + 30, then 40 + 40 with the gradient as it is, or 40 + 20.
  EXPECT_EQ(half.low.peak_allocated, 70 * kMiB);
  EXPECT_EQ(half.high.peak_allocated, 80 * kMiB);
  // Into 75 MiB go 40 + 60 × 0.58 only where the gradient shrinks, too.
  const MemoryWhatIf tight = memory_what_if(trace, 0, {.capacity = 75 * kMiB, .wants_largest_batch = true});
  EXPECT_EQ(tight.largest_batch, 0);
  EXPECT_GE(tight.largest_batch_at_best, 0.5);
  EXPECT_LE(tight.largest_batch_at_best, 35.0 / 60);
}

TEST(MemoryWhatIf, gives_a_range_where_blocks_are_kept_until_the_program_ends) {
  Trace trace;
  const StringId stack = trace.strings.intern("train.py(5): keep");
  const auto add = [&](AllocatorAction action, std::uint64_t number) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = number * kBase,
                                      .bytes = 30 * kMiB,
                                      .call_stack = stack,
                                      .action = action});
  };
  for (std::uint64_t block = 1; block <= 4; ++block) {
    add(AllocatorAction::kSegmentAllocate, block);
    add(AllocatorAction::kAllocate, block);
  }
  for (std::uint64_t block = 1; block <= 4; ++block) {
    add(AllocatorAction::kFreeRequested, block);
    add(AllocatorAction::kFreeCompleted, block);
  }
  const MemoryWhatIf twice = memory_what_if(trace, 0, {.batch_factor = 2});
  EXPECT_EQ(twice.low.peak_allocated, 120 * kMiB);
  EXPECT_EQ(twice.high.peak_allocated, 240 * kMiB);
}

TEST(MemoryWhatIf, learns_from_two_recordings_what_grows) {
  Trace one = program(1), two = program(2);
  // A mask that does not depend on the batch, though it comes and goes.
  for (Trace* trace : {&one, &two})
    for (const AllocatorAction action : {AllocatorAction::kSegmentAllocate, AllocatorAction::kAllocate,
                                         AllocatorAction::kFreeRequested, AllocatorAction::kFreeCompleted})
      trace->allocator_events.push_back({.time = 100,
                                         .address = 9 * kBase,
                                         .bytes = 200 * kMiB,
                                         .call_stack = trace->strings.intern("mask.py(2): build"),
                                         .action = action});
  const MemoryWhatIf alone = memory_what_if(one, 0, {.batch_factor = 3});
  EXPECT_EQ(alone.high.peak_allocated, 640 * kMiB);  // 40 + 3 × 200
  const MemoryWhatIf both = memory_what_if(one, 0, {.batch_factor = 3}, &two);
  EXPECT_TRUE(both.is_from_two_recordings);
  EXPECT_EQ(both.low.peak_allocated, 240 * kMiB);  // 40 + 200 > 40 + 3 × 60
  EXPECT_EQ(both.high.peak_allocated, 240 * kMiB);
  EXPECT_EQ(both.high.peak_reserved, 420 * kMiB);  // 40 + 180 and 200 of their own
}

// Beside 40 MiB of weights, each step makes 60 MiB a batch, and a product of all samples with all others that is 5 MiB
// with one batch and 20 with two.
TEST(MemoryWhatIf, learns_from_two_recordings_what_grows_with_the_square_of_the_batch) {
  const auto compared = [](std::int64_t batch) {
    LoggedProgram program;
    program.allocate(1, 40, "train.py(3): main");
    for (int step = 0; step < 3; ++step) {
      program.allocate(2, 60 * batch, "model.py(7): forward");
      program.allocate(3, 5 * batch * batch, "metric.py(2): compare");
      program.free(3);
      program.free(2);
    }
    return std::move(program.trace);
  };
  const MemoryWhatIf four = memory_what_if(compared(1), 0, {.batch_factor = 4}, nullptr);
  EXPECT_EQ(four.high.peak_allocated, (40 + 240 + 20) * kMiB);  // one recording cannot tell
  const Trace one = compared(1), two = compared(2);
  const MemoryWhatIf seen = memory_what_if(one, 0, {.batch_factor = 4}, &two);
  EXPECT_EQ(seen.low.peak_allocated, (40 + 240 + 80) * kMiB);
  EXPECT_EQ(seen.high.peak_allocated, (40 + 240 + 80) * kMiB);
  const MemoryWhatIf half = memory_what_if(two, 0, {.batch_factor = 0.5}, &one);
  EXPECT_EQ(half.high.peak_allocated, (40 + 60 + 5) * kMiB);
}

// As on autograd's threads, which have no stacks: a gradient of 50 MiB and what grows come in turns.
TEST(MemoryWhatIf, compares_two_recordings_block_by_block) {
  const auto backward = [](std::int64_t batch) {
    Trace trace;
    const auto add = [&](AllocatorAction action, std::uint64_t number, std::int64_t mebibytes) {
      trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                        .address = number * kBase,
                                        .bytes = mebibytes * kMiB,
                                        .action = action});
    };
    add(AllocatorAction::kSegmentAllocate, 1, 50);
    add(AllocatorAction::kSegmentAllocate, 2, 30 * batch);
    for (int step = 0; step < 3; ++step) {
      add(AllocatorAction::kAllocate, 1, 50);
      add(AllocatorAction::kAllocate, 2, 30 * batch);
      for (const AllocatorAction action : {AllocatorAction::kFreeRequested, AllocatorAction::kFreeCompleted}) {
        add(action, 1, 50);
        add(action, 2, 30 * batch);
      }
    }
    return trace;
  };
  const Trace one = backward(1), two = backward(2);
  const MemoryWhatIf four = memory_what_if(one, 0, {.batch_factor = 4}, &two);
  EXPECT_TRUE(four.is_from_two_recordings);
  EXPECT_EQ(four.low.peak_allocated, (50 + 4 * 30) * kMiB);
  EXPECT_EQ(four.high.peak_allocated, (50 + 4 * 30) * kMiB);
}

// Backward passes over a data set that the batch does not divide: a gradient of 50 MiB and what grows, without stacks,
// and the batch itself. The other recording takes more steps, and its last batch is half as large.
TEST(MemoryWhatIf, compares_two_recordings_of_different_numbers_of_steps) {
  const auto trained = [](const std::vector<std::int64_t>& batches) {
    Trace trace;
    const auto add = [&](AllocatorAction action, std::uint64_t number, std::int64_t mebibytes, std::string_view stack) {
      trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                        .address = number * kBase,
                                        .bytes = mebibytes * kMiB,
                                        .call_stack = trace.strings.intern(stack),
                                        .action = action});
    };
    add(AllocatorAction::kSegmentAllocate, 1, 50, "");
    add(AllocatorAction::kSegmentAllocate, 2, 300, "");
    add(AllocatorAction::kSegmentAllocate, 3, 200, "train.py(4): main");
    for (const std::int64_t batch : batches) {
      add(AllocatorAction::kAllocate, 3, 20 * batch, "train.py(4): main");
      add(AllocatorAction::kAllocate, 1, 50, "");
      add(AllocatorAction::kAllocate, 2, 30 * batch, "");
      for (const AllocatorAction action : {AllocatorAction::kFreeRequested, AllocatorAction::kFreeCompleted}) {
        add(action, 1, 50, "");
        add(action, 2, 30 * batch, "");
        add(action, 3, 20 * batch, "train.py(4): main");
      }
    }
    return trace;
  };
  const Trace one = trained({4, 4, 4}), two = trained({2, 2, 2, 2, 2, 1});
  const MemoryWhatIf doubled = memory_what_if(one, 0, {.batch_factor = 2}, &two);
  EXPECT_TRUE(doubled.is_from_two_recordings);
  EXPECT_EQ(doubled.low.peak_allocated, (50 + 8 * 50) * kMiB);
  EXPECT_EQ(doubled.high.peak_allocated, (50 + 8 * 50) * kMiB);
}

// Two doubts, a block of the size of one that stays and blocks that are kept: reserved is least with one way of
// deciding them and most with another, and both ends are among the ways.
TEST(MemoryWhatIf, tries_every_way_of_deciding_its_doubts) {
  Trace trace;
  const StringId append = trace.strings.intern("train.py(7): keep"), other = trace.strings.intern("train.py(9): step");
  const auto add = [&](AllocatorAction action, std::uint64_t number, std::int64_t mebibytes, StringId stack) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = number * kBase,
                                      .bytes = mebibytes * kMiB,
                                      .call_stack = stack,
                                      .action = action});
  };
  for (const std::uint64_t number : {1, 2, 3, 4}) add(AllocatorAction::kSegmentAllocate, number, 40, other);
  add(AllocatorAction::kAllocate, 1, 40, other);  // stays
  add(AllocatorAction::kAllocate, 2, 40, other);  // as large
  for (const std::uint64_t number : {3, 4}) add(AllocatorAction::kAllocate, number, 30, append);
  for (const AllocatorAction action : {AllocatorAction::kFreeRequested, AllocatorAction::kFreeCompleted}) {
    add(action, 2, 40, other);
    for (const std::uint64_t number : {3, 4}) add(action, number, 30, append);
  }
  const MemoryWhatIf doubled = memory_what_if(trace, 0, {.batch_factor = 2});
  EXPECT_EQ(doubled.low.peak_allocated, (40 + 40 + 2 * 30) * kMiB);
  EXPECT_EQ(doubled.high.peak_allocated, (40 + 80 + 2 * 60) * kMiB);
  const MemoryWhatIf limited = memory_what_if(trace, 0, {.capacity = 210 * kMiB, .batch_factor = 2});
  EXPECT_EQ(limited.verdict(), MemoryWhatIf::Verdict::kMayFit);
}

// 40 MiB that stay, 40 that may grow with the batch, and then 36 that do: those find room in what was 80 and is free
// again, but not in 40. So what allocates more reserves less.
TEST(MemoryWhatIf, gives_the_least_and_the_most_of_each_amount) {
  Trace trace;
  const auto add = [&](AllocatorAction action, std::uint64_t number, std::int64_t mebibytes) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = number * kBase,
                                      .bytes = mebibytes * kMiB,
                                      .action = action});
  };
  for (const std::uint64_t number : {1, 2}) {
    add(AllocatorAction::kSegmentAllocate, number, 40);
    add(AllocatorAction::kAllocate, number, 40);
  }
  add(AllocatorAction::kFreeRequested, 2, 40);
  add(AllocatorAction::kFreeCompleted, 2, 40);
  add(AllocatorAction::kAllocate, 2, 36);
  add(AllocatorAction::kFreeRequested, 2, 36);
  add(AllocatorAction::kFreeCompleted, 2, 36);
  const MemoryWhatIf doubled = memory_what_if(trace, 0, {.batch_factor = 2});
  EXPECT_EQ(doubled.low.peak_allocated, (40 + 72) * kMiB);
  EXPECT_EQ(doubled.high.peak_allocated, (40 + 80) * kMiB);
  EXPECT_EQ(doubled.low.peak_reserved, (40 + 80) * kMiB);
  EXPECT_EQ(doubled.high.peak_reserved, (40 + 40 + 72) * kMiB);
}

constexpr std::string_view kConstruction = "torch/nn/modules/linear.py(9): __init__;train.py(1): main";
constexpr std::string_view kForward = "torch/nn/modules/linear.py(20): forward;train.py(4): main";
constexpr std::string_view kOptimizer = "torch/optim/adam.py(30): step;train.py(6): main";

// Weights, an activation, a gradient and the optimizer's temporary, of 40 MiB each: only of the activation it is not
// known whether it grows, for a gradient outlives the backward pass, and the optimizer sees no batch.
TEST(MemoryWhatIf, knows_gradients_and_the_optimizers_temporaries_from_activations_that_are_as_large) {
  LoggedProgram program;
  program.allocate(1, 40, kConstruction);
  for (int step = 0; step < 3; ++step) {
    program.allocate(2, 40, kForward);
    program.allocate(3, 40, "");  // on autograd's thread
    program.free(2);
    program.allocate(4, 40, kOptimizer);
    program.free(4);
    program.free(3);
  }
  const MemoryWhatIf twice = memory_what_if(program.trace, 0, {.batch_factor = 2});
  EXPECT_EQ(twice.low.peak_allocated, (40 + 40 + 40) * kMiB);
  EXPECT_EQ(twice.high.peak_allocated, (40 + 80 + 40) * kMiB);
}

// What is kept for the backward pass and what is made for a moment are doubts of their own, as large as both are: with
// the former as it is and the latter grown, 40 + 40 + 80, which is neither the least nor the most.
TEST(MemoryWhatIf, tells_what_is_kept_for_backward_from_what_is_made_for_a_moment) {
  LoggedProgram program;
  program.allocate(1, 40, kConstruction);
  for (int step = 0; step < 3; ++step) {
    program.allocate(2, 40, kForward);
    program.allocate(3, 40, kForward);
    program.free(3);
    program.allocate(4, 10, "");
    program.free(4);
    program.free(2);
  }
  const AllocatorRequests requests = allocator_requests(program.trace, 0);
  const auto uses = used_blocks(program.trace, 0, {});
  std::set<std::pair<double, double>> ways;  // of the first step's blocks; the weights are block 0
  for (const std::vector<double>& way : batch_scaling(program.trace, requests, uses).ways) {
    EXPECT_EQ(way[0], 0);
    EXPECT_EQ(way[3], 1);  // has no size of what stays
    ways.emplace(way[1], way[2]);
  }
  EXPECT_EQ(ways, (std::set<std::pair<double, double>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

// cuBLAS's workspace of 32 MiB has no gradient, so that an activation of its size surely grows.
TEST(MemoryWhatIf, does_not_take_what_is_as_large_as_a_workspace_for_a_gradient) {
  LoggedProgram program;
  program.allocate(1, 40, kConstruction);
  program.allocate(2, 10, kForward);
  program.allocate(9, 32, kForward);  // behind the first product's result
  program.free(2);
  for (int step = 0; step < 3; ++step) {
    program.allocate(3, 32, kForward);
    program.allocate(4, 40, "");
    program.free(3);
    program.free(4);
  }
  const MemoryWhatIf twice = memory_what_if(program.trace, 0, {.batch_factor = 2});
  EXPECT_EQ(twice.low.peak_allocated, (40 + 32 + 64 + 40) * kMiB);
  EXPECT_EQ(twice.high.peak_allocated, (40 + 32 + 64 + 40) * kMiB);
}

// Of a model that goes when the program ends, gradients are known all the same.
TEST(MemoryWhatIf, knows_gradients_of_parameters_that_go_at_the_end) {
  LoggedProgram program;
  for (const std::uint64_t number : {1, 2}) program.allocate(number, 40, kConstruction);
  for (int step = 0; step < 3; ++step) {
    program.allocate(3, 60, kForward);
    program.allocate(4, 40, "");
    program.free(3);
    program.allocate(5, 1, kOptimizer);
    program.free(5);
    program.free(4);
  }
  for (const std::uint64_t number : {1, 2}) program.free(number);
  const MemoryWhatIf twice = memory_what_if(program.trace, 0, {.batch_factor = 2});
  EXPECT_EQ(twice.low.peak_allocated, (2 * 40 + 120 + 40) * kMiB);
}

// A program that tries 500 MiB, catches that there is no memory, and asks for 50.
TEST(MemoryWhatIf, knows_a_failure_that_the_recorded_program_survived) {
  LoggedProgram program;
  program.allocate(1, 40, "train.py(1): main");
  program.trace.allocator_events.push_back(
      {.time = 50, .address = 100, .bytes = 500 * kMiB, .action = AllocatorAction::kOutOfMemory});
  const MemoryWhatIf died = memory_what_if(program.trace, 0, {.capacity = 200 * kMiB});
  ASSERT_TRUE(died.high.failure);
  EXPECT_FALSE(died.high.failure->was_survived);
  program.allocate(2, 50, "train.py(2): main");
  const MemoryWhatIf survived = memory_what_if(program.trace, 0, {.capacity = 200 * kMiB});
  ASSERT_TRUE(survived.high.failure);
  EXPECT_EQ(survived.high.failure->requested, 500 * kMiB);
  EXPECT_TRUE(survived.high.failure->was_survived);
  EXPECT_FALSE(memory_what_if(program.trace, 0, {.capacity = 600 * kMiB}).high.failure);
}

// A segment of 40 MiB and, behind it, one of 20 are made; half of the first is handed out again, and then 20 MiB may
// lie in its other half or in the second: in that with the lower address. Only where the first stays whole there is
// room for 40 again.
TEST(MemoryWhatIf, gives_a_range_where_it_matters_in_which_order_segments_lie) {
  Trace trace;
  const auto add = [&](AllocatorAction action, std::uint64_t address, std::int64_t mebibytes) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = address,
                                      .bytes = mebibytes * kMiB,
                                      .action = action});
  };
  const auto free = [&](std::uint64_t address, std::int64_t mebibytes) {
    add(AllocatorAction::kFreeRequested, address, mebibytes);
    add(AllocatorAction::kFreeCompleted, address, mebibytes);
  };
  const std::uint64_t first = kBase, second = 2 * kBase, third = 3 * kBase;
  add(AllocatorAction::kSegmentAllocate, first, 40);
  add(AllocatorAction::kAllocate, first, 40);
  add(AllocatorAction::kSegmentAllocate, second, 20);
  add(AllocatorAction::kAllocate, second, 20);
  free(first, 40);
  add(AllocatorAction::kAllocate, first, 20);
  free(second, 20);
  add(AllocatorAction::kAllocate, first + 20 * kMiB, 20);
  free(first, 20);
  add(AllocatorAction::kSegmentAllocate, third, 40);
  add(AllocatorAction::kAllocate, third, 40);
  free(third, 40);
  free(first + 20 * kMiB, 20);
  const MemoryWhatIf twice = memory_what_if(trace, 0, {.batch_factor = 2});
  EXPECT_EQ(twice.before.peak_reserved, 100 * kMiB);
  EXPECT_EQ(twice.low.peak_reserved, 2 * 60 * kMiB);
  EXPECT_EQ(twice.high.peak_reserved, 2 * 100 * kMiB);
  const MemoryWhatIf tight =
      memory_what_if(trace, 0, {.capacity = 130 * kMiB, .batch_factor = 2, .wants_largest_batch = true});
  EXPECT_EQ(tight.verdict(), MemoryWhatIf::Verdict::kMayFit);
  EXPECT_LT(*tight.largest_batch, *tight.largest_batch_at_best);
  // As recorded, it is known where segments lie.
  const MemoryWhatIf same = memory_what_if(trace, 0, {.capacity = 70 * kMiB});
  EXPECT_EQ(same.verdict(), MemoryWhatIf::Verdict::kFails);
}

TEST(MemoryWhatIf, leaves_out_what_pytorch_could_not_have) {
  Trace trace = program(1);
  trace.devices.push_back({.id = 0, .memory_bytes = 200 * kMiB});
  // Out of memory with 100 MiB reserved and 70 free: 30 are somebody else's.
  trace.allocator_events.push_back({.time = 100,
                                    .address = static_cast<std::uint64_t>(70 * kMiB),
                                    .bytes = 80 * kMiB,
                                    .action = AllocatorAction::kOutOfMemory});
  const MemoryWhatIf found = memory_what_if(trace, 0, {.capacity = 209 * kMiB});
  EXPECT_EQ(found.outside_bytes, 30 * kMiB);
  EXPECT_FALSE(found.high.failure);  // the free 60 MiB go back: 40 + 80 ≤ 179
  EXPECT_TRUE(memory_what_if(trace, 0, {.capacity = 149 * kMiB}).high.failure);  // 40 + 80 > 119
}

}  // namespace
}  // namespace telltale
