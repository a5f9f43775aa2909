#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Steps of 10 ms, of which some compile for 50 ms before that.
Trace training(const std::vector<bool>& compiles, std::string_view what) {
  ProgramSketch program;
  for (const bool compiling : compiles) {
    program.begin_step();
    if (compiling) program.run(Kind::kOperator, what, 50 * kMillisecond);
    program.kernel("aten::mm", 10 * kMillisecond);
    program.wait();
  }
  return program.build();
}

constexpr std::string_view kCompiling = "_compile.compile_inner (dynamo_timed)";

TEST(RecompilationRule, steps_that_compile_would_not) {
  const std::vector<Finding> findings = findings_of(training({true, true, true}, kCompiling), "recompilation");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 50, 0.05);
  EXPECT_EQ(findings[0].fix.id, "stable_shapes");
  EXPECT_EQ(findings[0].explanation, "3 of 3 recorded steps compile, which takes 50.0 ms per step.");
}

TEST(RecompilationRule, now_and_then_is_enough) {
  const std::vector<Finding> findings = findings_of(training({true, false, false, true}, kCompiling), "recompilation");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 25, 0.05);
}

TEST(RecompilationRule, is_silent_about_warming_up_and_about_a_single_step) {
  EXPECT_TRUE(findings_of(training({true, true, false, false}, kCompiling), "recompilation").empty());
  EXPECT_TRUE(findings_of(training({false, false, true}, kCompiling), "recompilation").empty());
}

TEST(RecompilationRule, is_silent_about_kernels_that_are_loaded) {
  EXPECT_TRUE(findings_of(training({true, true, true}, "Lazy Function Loading"), "recompilation").empty());
}

const RuleSample kEveryStep("recompilation", "every step", [] { return training({true, true, true}, kCompiling); });
const RuleSample k2StepsOf4("recompilation", "2 steps of 4",
                            [] { return training({true, false, false, true}, kCompiling); });

}  // namespace
}  // namespace telltale
