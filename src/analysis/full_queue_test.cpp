#include "analysis/full_queue.h"

#include <gtest/gtest.h>

#include "analysis/testing/long_queue.h"

namespace telltale {
namespace {

TEST(FullQueue, is_found_from_calls_that_are_long_at_one_depth) {
  LongQueue program;
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  const FullQueue queue(trace);
  EXPECT_EQ(queue.capacity(), 200);
  EXPECT_EQ(queue.own_time_of(program.sketch.id(program.calls[100])), nullptr);
  const Nanoseconds* own = queue.own_time_of(program.sketch.id(program.calls[900]));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(*own, LongQueue::kLaunch);
}

TEST(FullQueue, counts_work_that_was_launched_before_the_trace_began) {
  LongQueue program;
  program.launched_before(190);
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  EXPECT_EQ(FullQueue(trace).capacity(), 200);
}

// Every call waits: then no call tells what a launch takes, and 10 µs is the most.
TEST(FullQueue, that_is_full_throughout_leaves_launches_their_usual_time) {
  LongQueue program;
  program.launched_before(200);
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  const FullQueue queue(trace);
  ASSERT_TRUE(queue.was_full());
  EXPECT_LE(*queue.own_time_of(program.sketch.id(program.calls[600])), 10 * kMicrosecond);
}

TEST(FullQueue, is_not_seen_where_launches_return_at_once) {
  LongQueue program;
  program.steps(3, 300, 100'000);
  const Trace trace = program.sketch.build();
  const FullQueue queue(trace);
  EXPECT_FALSE(queue.was_full());
  EXPECT_EQ(queue.capacity(), 1024);
}

TEST(FullQueue, is_not_blamed_for_a_few_calls_that_are_long_by_chance) {
  LongQueue program;
  program.steps(3, 300, 100'000);
  for (int i = 0; i < 3; ++i) {
    program.now += 300 * kMicrosecond;
    program.launch(100'000);
  }
  const Trace trace = program.sketch.build();
  EXPECT_FALSE(FullQueue(trace).was_full());
}

}  // namespace
}  // namespace telltale
