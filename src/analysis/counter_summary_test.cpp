#include "analysis/counter_summary.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// 2 from 10 to 20, 6 from 20 to 50, 0 from there on.
Trace queue() {
  TraceSketch sketch;
  sketch.event(sketch.thread("main"), Kind::kAnnotation, "work", 0, 100);
  sketch.count("queue", 10, 2);
  sketch.count("queue", 20, 6);
  sketch.count("queue", 50, 0);
  return sketch.build();
}

TEST(CounterSummary, weighs_values_by_how_long_they_hold) {
  const auto summaries = counter_summaries(queue(), {0, 100});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].name, "queue");
  EXPECT_EQ(summaries[0].series, "value");
  EXPECT_EQ(summaries[0].values, 3);
  EXPECT_DOUBLE_EQ(summaries[0].minimum, 0);
  EXPECT_DOUBLE_EQ(summaries[0].maximum, 6);
  EXPECT_DOUBLE_EQ(summaries[0].last, 0);
  EXPECT_DOUBLE_EQ(summaries[0].mean, (2.0 * 10 + 6.0 * 30 + 0.0 * 50) / 90) << "nothing is known before 10";
}

TEST(CounterSummary, begins_a_window_with_the_value_set_before_it) {
  const auto summaries = counter_summaries(queue(), {30, 60});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].values, 1);
  EXPECT_DOUBLE_EQ(summaries[0].maximum, 6);
  EXPECT_DOUBLE_EQ(summaries[0].mean, (6.0 * 20 + 0.0 * 10) / 30);
}

TEST(CounterSummary, leaves_out_counters_without_a_value_in_the_window) {
  EXPECT_TRUE(counter_summaries(queue(), {25, 45}).empty());
  EXPECT_TRUE(counter_summaries(queue(), {0, 5}).empty());
  EXPECT_TRUE(counter_summaries(Trace{}, {0, 5}).empty());
}

TEST(CounterSummary, keeps_counters_apart) {
  TraceSketch sketch;
  sketch.count("a", 0, 1);
  sketch.count("a", 5, 3);
  sketch.count("b", 0, -7.5);
  const auto summaries = counter_summaries(sketch.build(), {0, 10});
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_DOUBLE_EQ(summaries[0].mean, 2);
  EXPECT_DOUBLE_EQ(summaries[1].minimum, -7.5);
  EXPECT_DOUBLE_EQ(summaries[1].mean, -7.5);
}

TEST(CounterSummary, of_a_single_moment_is_its_value) {
  TraceSketch sketch;
  sketch.count("a", 10, 4);
  const auto summaries = counter_summaries(sketch.build(), {0, 10});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_DOUBLE_EQ(summaries[0].mean, 4);
}

}  // namespace
}  // namespace telltale
