// Logs of programs that repeat themselves, drawn by hand.
#include "memory/inferred_steps.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

class Log {
 public:
  std::uint64_t allocate(std::string_view stack, std::int64_t bytes = 1024) {
    const std::uint64_t address = next_;
    next_ += 1 << 20;
    add(AllocatorAction::kAllocate, address, bytes, stack);
    return address;
  }
  void free(std::uint64_t address) { add(AllocatorAction::kFreeRequested, address, 0, ""); }
  // Gives back all of these.
  void free_all(std::vector<std::uint64_t>& addresses) {
    for (const std::uint64_t address : addresses) free(address);
    addresses.clear();
  }

  Trace trace;

 private:
  void add(AllocatorAction action, std::uint64_t address, std::int64_t bytes, std::string_view stack) {
    now_ += 1000;
    trace.allocator_events.push_back({.time = now_,
                                      .address = address,
                                      .bytes = bytes,
                                      .call_stack = trace.strings.intern(stack),
                                      .action = action});
  }
  std::uint64_t next_ = 1 << 20;
  Nanoseconds now_ = 0;
};

// Parameters, then steps of a batch, so many layers by the same lines, and a backward pass without stacks.
Log training(int steps, int layers, int evaluates_at = -1) {
  Log log;
  for (int i = 0; i < 5; ++i) log.allocate("model.py(" + std::to_string(i) + "): __init__");
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint64_t> made{log.allocate("train.py(10): batch")};
    for (int layer = 0; layer < layers; ++layer)
      for (const char* stack : {"model.py(20): forward", "model.py(21): forward", "model.py(22): forward"})
        made.push_back(log.allocate(stack));
    made.push_back(log.allocate("train.py(12): loss"));
    for (int layer = 0; layer < layers; ++layer)
      for (int i = 0; i < 4; ++i) made.push_back(log.allocate(""));
    for (int i = 0; i < 8 && step == evaluates_at; ++i) made.push_back(log.allocate("evaluate.py(3): run"));
    log.free_all(made);
  }
  return log;
}

TEST(InferredSteps, begin_where_least_is_allocated) {
  const Log log = training(10, 2);
  const auto found = inferred_steps(log.trace, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, StepSource::kPattern);
  ASSERT_EQ(found->steps.size(), 9);  // the last one has no end
  // The batch is the first of a step: behind 5 parameters, and 16 allocations and 16 frees for each step before it.
  for (std::size_t i = 0; i < found->steps.size(); ++i)
    EXPECT_EQ(found->steps[i].host.begin, static_cast<Nanoseconds>(1000 * (5 + 32 * i + 1)));
}

TEST(InferredSteps, are_no_layers_however_many_there_are) {
  const auto found = inferred_steps(training(6, 40).trace, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps.size(), 5);
}

TEST(InferredSteps, are_not_found_where_nothing_repeats_or_too_rarely) {
  EXPECT_FALSE(inferred_steps(training(4, 2).trace, 0));  // three whole ones say nothing of growth
  EXPECT_FALSE(inferred_steps({}, 0));
  Log log;
  // Each of seven lines comes seven times, each time among others.
  for (int i = 0; i < 49; ++i) {
    log.allocate("a.py(" + std::to_string(i * i * 31 % 7) + "): f");
    for (int other = 0; other < i % 5; ++other) log.allocate("b.py(" + std::to_string(i) + "): g");
  }
  EXPECT_FALSE(inferred_steps(log.trace, 0));
}

TEST(InferredSteps, survive_one_step_that_is_unlike_the_others) {
  // 24 allocations of 19 × 16 + 8 are in the step that is unlike: fewer than one in ten.
  const auto found = inferred_steps(training(20, 2, 10).trace, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps.size(), 19);
}

}  // namespace
}  // namespace telltale
