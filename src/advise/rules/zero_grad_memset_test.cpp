#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kZeroGrad = "Optimizer.zero_grad#SGD.zero_grad";

struct Program {
  std::string_view fill = "aten::zero_", shapes = {};
  int fills = 2, passes = 1;
  bool computes = false;  // beside the passes
  Nanoseconds thinking = 0;
};

// Fills of 1 ms each; then passes with two products of 5 ms, whose gradients are added to those there are in 3 ms each.
Trace training(const Program& what) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(54): train_step");
    program.open(Kind::kAnnotation, kZeroGrad);
    for (int i = 0; i < what.fills; ++i)
      program.kernel({.op = what.fill, .name = "FillFunctor", .duration = kMillisecond, .shapes = what.shapes});
    program.close();
    if (what.computes) program.kernel({.op = "aten::mm", .name = "gemm", .duration = 5 * kMillisecond});
    for (int i = 0; i < 2 * what.passes; ++i) {
      program.kernel({.op = "aten::mm", .name = "gemm", .duration = 5 * kMillisecond});
      program.open(Kind::kOperator, "torch::autograd::AccumulateGrad");
      program.kernel({.op = "aten::add_", .name = "elementwise_kernel", .duration = 3 * kMillisecond});
      program.close();
    }
    if (what.thinking > 0)
      program.run(Kind::kOperator, "aten::think", what.thinking);
    else
      program.wait();
  }
  return program.build();
}

TEST(ZeroGradMemsetRule, fills_and_sums_vanish) {
  const std::vector<Finding> findings = findings_of(training({}), "zero_grad_memset");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 + 2 * 3, 0.05);
  EXPECT_EQ(findings[0].fix.id, "set_to_none");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 54, "train_step"}));
  EXPECT_EQ(findings[0].explanation,
            "zero_grad spends 2.00 ms per step writing zeros, and the backward pass 6.00 ms adding to them; without "
            "the zeros it would simply keep what it computes.");
}

TEST(ZeroGradMemsetRule, of_several_passes_only_the_first_writes) {
  const std::vector<Finding> findings = findings_of(training({.passes = 3}), "zero_grad_memset");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 + 2 * 3, 0.05);
}

TEST(ZeroGradMemsetRule, one_operator_may_fill_a_list_of_gradients) {
  const std::vector<Finding> findings =
      findings_of(training({.fill = "aten::_foreach_zero_", .shapes = "[[[64,64],[64]]]", .fills = 1, .passes = 2}),
                  "zero_grad_memset");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1 + 2 * 3, 0.05);
}

TEST(ZeroGradMemsetRule, is_silent_when_gradients_are_dropped) {
  EXPECT_TRUE(findings_of(training({.fills = 0}), "zero_grad_memset").empty());
}

TEST(ZeroGradMemsetRule, is_silent_when_the_host_takes_longer) {
  EXPECT_TRUE(findings_of(training({.thinking = 60 * kMillisecond}), "zero_grad_memset").empty());
}

const RuleSample kGradientsThatAreAddedTo("zero_grad_memset", "gradients that are added to",
                                          [] { return training({}); });
const RuleSample kGradientsThatNothingIsAddedTo("zero_grad_memset", "gradients that nothing is added to",
                                                [] { return training({.passes = 0, .computes = true}); });

}  // namespace
}  // namespace telltale
