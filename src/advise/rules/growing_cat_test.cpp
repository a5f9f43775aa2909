#include <gtest/gtest.h>

#include <array>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Gathering {
  Nanoseconds more_each_step = 500 * kMicrosecond;
  int steps = 15;
  bool is_on_device = false;
  bool is_shuffled = false;  // the same times, in another order
  bool all_grows = false;    // other operators as well, by as much of themselves
  bool is_freed = false;     // what was there before, by Python, in as long
};

// Steps of 10 ms, and a join of 1 ms that takes longer in every step.
Trace gathering(const Gathering& options) {
  ProgramSketch program;
  for (int step = 0; step < options.steps; ++step) {
    const int place = options.is_shuffled ? 7 * step % options.steps : step;
    const Nanoseconds takes = 1 * kMillisecond + place * options.more_each_step;
    program.begin_step();
    program.open(Kind::kPython, "gather.py(12): step");
    program.run(Kind::kOperator, "aten::addmm", 10 * (options.all_grows ? takes : kMillisecond));
    if (options.is_on_device) {
      program.kernel({.op = "aten::cat", .name = "CatArrayBatchedCopy", .duration = takes});
      program.wait();
    } else {
      program.run(Kind::kOperator, "aten::cat", takes);
    }
    if (options.is_freed) program.spend(takes);
    program.close();
  }
  return program.build();
}

// By hand: 1 + 0.5 * 7 ms, the mean of 15 steps.
TEST(GrowingCatRule, saves_the_joins) {
  for (const bool is_on_device : {false, true}) {
    const std::vector<Finding> findings = findings_of(gathering({.is_on_device = is_on_device}), "growing_cat");
    ASSERT_EQ(findings.size(), 1);
    EXPECT_NEAR(likely_ms(findings[0]), 4.5, 0.01) << is_on_device;
    EXPECT_EQ(findings[0].fix.id, "join_once");
    EXPECT_EQ(findings[0].source, (SourceLine{"gather.py", 12, "step"}));
  }
}

TEST(GrowingCatRule, minds_no_time_of_python_that_grows_as_well) {
  const std::vector<Finding> findings = findings_of(gathering({.is_freed = true}), "growing_cat");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 4.5, 0.01);
}

TEST(GrowingCatRule, is_silent_about_what_does_not_grow) {
  EXPECT_TRUE(findings_of(gathering({.more_each_step = 0}), "growing_cat").empty());
  EXPECT_TRUE(findings_of(gathering({.more_each_step = 20 * kMicrosecond}), "growing_cat").empty());
  EXPECT_TRUE(findings_of(gathering({.is_shuffled = true}), "growing_cat").empty());
}

TEST(GrowingCatRule, is_silent_about_steps_that_grow_as_a_whole) {
  EXPECT_TRUE(findings_of(gathering({.all_grows = true}), "growing_cat").empty());
}

TEST(GrowingCatRule, is_silent_about_few_steps) {
  EXPECT_TRUE(findings_of(gathering({.steps = 9}), "growing_cat").empty());
}

const RuleSample kGathering("growing_cat", "rows that are gathered", [] { return gathering({}); });

}  // namespace
}  // namespace telltale
