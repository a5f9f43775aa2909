#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Optimizer {
  std::string_view step = "Optimizer.step#AdamW.step";
  std::string_view kernel = "multi_tensor_apply_kernel";
  int kernels = 10;
  Nanoseconds duration = 1 * kMillisecond;
  Nanoseconds host = 0;  // a kernel
};

// A product of 10 ms, and the optimizer; the host waits for both.
Trace training(const Optimizer& optimizer) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 10 * kMillisecond});
    program.open(Kind::kAnnotation, optimizer.step);
    for (int i = 0; i < optimizer.kernels; ++i) {
      program.run(Kind::kOperator, "aten::_foreach_add_", optimizer.host);
      program.kernel({.op = "aten::_foreach_mul_", .name = optimizer.kernel, .duration = optimizer.duration});
    }
    program.close();
    program.wait();
  }
  return program.build();
}

// A fused optimizer takes 35 % of 10 ms on the device.
TEST(SingleTensorOptimizerRule, a_fused_one_passes_over_the_parameters_once) {
  const std::vector<Finding> findings = findings_of(training({}), "single_tensor_optimizer");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 6.5, 0.05);
  EXPECT_EQ(findings[0].fix.id, "fused_optimizer");
  EXPECT_EQ(findings[0].title, "The optimizer passes over its parameters several times");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 8, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "Its step launches 10 kernels that take 10.0 ms; a fused optimizer needs only a few.");
}

// 400 launches of 105 µs each last longer than the product: 5 % of the host's time remain, hidden behind it, and 0.35
// of 400 kernels of 5 µs with 1 µs between them.
TEST(SingleTensorOptimizerRule, a_fused_one_takes_little_of_the_host) {
  const std::vector<Finding> findings = findings_of(
      training({.kernels = 400, .duration = 5 * kMicrosecond, .host = 100 * kMicrosecond}), "single_tensor_optimizer");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "The optimizer updates one parameter at a time");
  EXPECT_NEAR(likely_ms(findings[0]), 400 * 0.105 - (10 + 400 * (0.35 * 0.005 + 0.001)), 0.1);
}

// Nothing is known of how its kernels fill the device, so that as little of them remains as of the host's time.
TEST(SingleTensorOptimizerRule, others_can_work_on_lists) {
  const Trace trace = training(
      {.step = "Optimizer.step#Lion.step", .kernels = 400, .duration = 5 * kMicrosecond, .host = 100 * kMicrosecond});
  const std::vector<Finding> findings = findings_of(trace, "single_tensor_optimizer");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "fused_optimizer");
  EXPECT_NEAR(likely_ms(findings[0]), 400 * 0.105 - (10 + 400 * (0.05 * 0.005 + 0.001)), 0.1);
}

TEST(SingleTensorOptimizerRule, is_silent_about_fused_ones_and_few_kernels_of_those_without_a_fused_form) {
  EXPECT_TRUE(
      findings_of(training({.kernel = "multi_tensor_apply_kernel<FusedAdamMathFunctor>"}), "single_tensor_optimizer")
          .empty());
  EXPECT_TRUE(findings_of(training({.step = "Optimizer.step#SGD.step"}), "single_tensor_optimizer").empty());
}

TEST(SingleTensorOptimizerRule, is_silent_about_few_kernels_and_about_little_time) {
  EXPECT_TRUE(findings_of(training({.kernels = 7}), "single_tensor_optimizer").empty());
  EXPECT_TRUE(findings_of(training({.duration = 10 * kMicrosecond}), "single_tensor_optimizer").empty());
}

const RuleSample k10Kernels("single_tensor_optimizer", "10 kernels", [] { return training({}); });
const RuleSample k400Kernels("single_tensor_optimizer", "400 kernels", [] {
  return training({.kernels = 400, .duration = 5 * kMicrosecond, .host = 100 * kMicrosecond});
});

const RuleSample kWithoutFusedForm("single_tensor_optimizer", "400 kernels, no fused form", [] {
  return training(
      {.step = "Optimizer.step#Lion.step", .kernels = 400, .duration = 5 * kMicrosecond, .host = 100 * kMicrosecond});
});

}  // namespace
}  // namespace telltale
