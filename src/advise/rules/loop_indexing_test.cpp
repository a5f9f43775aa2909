#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Looping {
  int turns = 20;
  Nanoseconds kernel = 5 * kMicrosecond;
  bool trains = false;
};

// Each step, a loop whose turns cost the host 105 µs and a kernel; then 1 ms of other work, and perhaps as many
// operators in the backward pass.
Trace looping(const Looping& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "forward");
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < options.turns; ++turn) {
      program.run(Kind::kOperator, "aten::select", 50 * kMicrosecond);
      program.open(Kind::kOperator, "aten::mul");
      program.spend(50 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "elementwise_kernel", options.kernel);
      program.close();
    }
    program.close();
    program.close();
    if (options.trains) {
      program.open(Kind::kAnnotation, "backward");
      for (int turn = 0; turn < options.turns; ++turn) program.run(Kind::kOperator, "aten::mul", 100 * kMicrosecond);
      program.close();
    }
    program.run(Kind::kOperator, "aten::think", 1 * kMillisecond);
  }
  return program.build();
}

// The observer takes 2 µs of each launch; one turn of 20 remains.
constexpr double kLoop = 20 * (0.105 - 0.002) * 19 / 20;

TEST(LoopIndexingRule, one_turn_remains_of_a_loop) {
  const std::vector<Finding> findings = findings_of(looping({}), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kLoop, 0.01);
  EXPECT_EQ(findings[0].fix.id, "batch_calls");
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 4, "attend"}));
  EXPECT_EQ(findings[0].title, "A loop calls the same operators for each of 20 rows");
  EXPECT_EQ(findings[0].evidence.size(), Finding::kMaxEvidence);
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
}

// All operators of the forward pass are the loop's, so that a twentieth of the backward pass remains as well.
TEST(LoopIndexingRule, the_backward_pass_shrinks_as_the_forward_pass_does) {
  const std::vector<Finding> findings = findings_of(looping({.trains = true}), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kLoop + 2 * 19.0 / 20, 0.01);
}

TEST(LoopIndexingRule, is_silent_about_few_turns) {
  EXPECT_TRUE(findings_of(looping({.turns = 9}), "loop_indexing").empty());
}

TEST(LoopIndexingRule, is_silent_where_the_device_is_busy_with_something_else) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < 20; ++turn) program.run(Kind::kOperator, "aten::select", 50 * kMicrosecond);
    program.close();
    program.kernel("aten::mm", 50 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "loop_indexing").empty());
}

const RuleSample k20Rows("loop_indexing", "20 rows", [] { return looping({}); });

}  // namespace
}  // namespace telltale
