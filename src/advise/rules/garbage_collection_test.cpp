#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

Trace training(std::string_view built_in, Nanoseconds computing, bool waits) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel("aten::mm", computing);
    if (waits) program.wait();
    program.open(Kind::kPython, "train.py(21): tidy_up");
    program.run(Kind::kPython, built_in, 20 * kMillisecond);
    program.close();
  }
  return program.build();
}

constexpr std::string_view kCollect = "<built-in function collect>";

TEST(GarbageCollectionRule, frozen_objects_leave_a_twentieth) {
  const std::vector<Finding> findings = findings_of(training(kCollect, 10 * kMillisecond, true), "garbage_collection");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 19, 0.1);
  EXPECT_EQ(findings[0].fix.id, "freeze_gc");
  EXPECT_EQ(findings[0].explanation,
            "Garbage collection takes 20.0 ms per recorded step; the longest collection took 20.0 ms.");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 21, "tidy_up"}));
}

TEST(GarbageCollectionRule, saves_only_what_the_device_does_not_hide) {
  const std::vector<Finding> findings = findings_of(training(kCollect, 15 * kMillisecond, false), "garbage_collection");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 15, 0.1);
  EXPECT_TRUE(findings_of(training(kCollect, 40 * kMillisecond, false), "garbage_collection").empty());
}

TEST(GarbageCollectionRule, is_silent_about_other_calls) {
  EXPECT_TRUE(
      findings_of(training("<built-in function sorted>", 10 * kMillisecond, true), "garbage_collection").empty());
}

const RuleSample kOneCollectionPerStep("garbage_collection", "one collection per step",
                                       [] { return training(kCollect, 10 * kMillisecond, true); });

}  // namespace
}  // namespace telltale
