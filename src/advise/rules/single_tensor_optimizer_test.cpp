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
  EXPECT_NEAR(likely_ms(findings[0]), 400 * 0.105 - (10 + 400 * 0.35 * (0.005 + 0.001)), 0.1);
}

// Nothing is known of how its kernels fill the device, so that as little of them remains as of the host's time.
TEST(SingleTensorOptimizerRule, others_can_work_on_lists) {
  const Trace trace = training(
      {.step = "Optimizer.step#Lion.step", .kernels = 400, .duration = 5 * kMicrosecond, .host = 100 * kMicrosecond});
  const std::vector<Finding> findings = findings_of(trace, "single_tensor_optimizer");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "fused_optimizer");
  EXPECT_NEAR(likely_ms(findings[0]), 400 * 0.105 - (10 + 400 * 0.05 * (0.005 + 0.001)), 0.1);
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

// A step of 1 ms and an optimizer of 20 operators of 0.1 ms each, without a device.
Trace training_on_cpu(std::string_view step, std::string_view op) {
  ProgramSketch program;
  for (int i = 0; i < 3; ++i) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    program.run(Kind::kOperator, "aten::mm", 1 * kMillisecond);
    program.open(Kind::kAnnotation, step);
    for (int call = 0; call < 20; ++call) program.run(Kind::kOperator, op, 100 * kMicrosecond);
    program.close();
    program.close();
  }
  return program.build();
}

// A quarter of 2 ms remains of Adam, half of SGD.
TEST(SingleTensorOptimizerRule, a_fused_one_takes_a_part_of_the_time_on_a_cpu) {
  const std::vector<Finding> adam =
      findings_of(training_on_cpu("Optimizer.step#Adam.step", "aten::mul_"), "single_tensor_optimizer");
  ASSERT_EQ(adam.size(), 1);
  EXPECT_NEAR(likely_ms(adam[0]), 1.5, 0.01);
  EXPECT_EQ(adam[0].explanation,
            "Its step calls 20 operators and takes 2.00 ms as recorded; a fused optimizer passes over each parameter "
            "once.");
  EXPECT_EQ(adam[0].fix.code, "- torch.optim.Adam(parameters)\n+ torch.optim.Adam(parameters, fused=True)");
  const std::vector<Finding> sgd =
      findings_of(training_on_cpu("Optimizer.step#SGD.step", "aten::add_"), "single_tensor_optimizer");
  ASSERT_EQ(sgd.size(), 1);
  EXPECT_NEAR(likely_ms(sgd[0]), 1.0, 0.01);
}

// As Lightning does it: the loss and its gradients, 2 ms, are computed inside the optimizer's step of 2 ms.
TEST(SingleTensorOptimizerRule, leaves_alone_what_a_closure_does) {
  ProgramSketch program;
  for (int i = 0; i < 3; ++i) {
    program.begin_step();
    program.open(Kind::kAnnotation, "Optimizer.step#Adam.step");
    program.open(Kind::kModule, "nn.Module: Net_0");
    program.run(Kind::kOperator, "aten::mm", 1 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "autograd::engine::evaluate_function: MmBackward0", 1 * kMillisecond);
    for (int call = 0; call < 20; ++call) program.run(Kind::kOperator, "aten::mul_", 100 * kMicrosecond);
    program.close();
  }
  const std::vector<Finding> findings = findings_of(program.build(), "single_tensor_optimizer");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1.5, 0.05);  // some of its time is the recorder's
  EXPECT_TRUE(findings[0].explanation.starts_with("Its step calls 20 operators and takes 2.00 ms"));
}

TEST(SingleTensorOptimizerRule, is_silent_on_a_cpu_where_it_is_fused_or_has_no_such_form) {
  EXPECT_TRUE(
      findings_of(training_on_cpu("Optimizer.step#AdamW.step", "aten::_fused_adamw_"), "single_tensor_optimizer")
          .empty());
  EXPECT_TRUE(
      findings_of(training_on_cpu("Optimizer.step#Lion.step", "aten::mul_"), "single_tensor_optimizer").empty());
}

const RuleSample kOnCpu("single_tensor_optimizer", "on a CPU",
                        [] { return training_on_cpu("Optimizer.step#Adam.step", "aten::mul_"); });
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
