#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kProduct = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";
constexpr std::string_view kTypes = R"(["c10::BFloat16","c10::BFloat16"])";
// Each product has 2 · 256 · 4096 · 4096 · 64 operations: 1.1e12 together, for which 0.3 of 989.4 TFLOP/s take 3.70 ms.
constexpr std::string_view kScores = "[[256,4096,64],[256,64,4096]]", kMixed = "[[256,4096,4096],[256,4096,64]]";

// Returns the operator.
ProgramSketch::Handle call(ProgramSketch& program, std::string_view op, std::string_view kernel,
                           std::string_view shapes, Nanoseconds duration = 4 * kMillisecond) {
  const ProgramSketch::Handle handle = program.open(Kind::kOperator, op);
  if (!shapes.empty()) {
    program.sketch().set_inputs(handle, shapes);
    program.sketch().set_types(handle, kTypes);
  }
  program.launch("cudaLaunchKernel", Kind::kKernel, kernel, duration);
  program.close();
  return handle;
}

struct Program {
  std::string_view around = "aten::attend";
  bool has_last_product = true;
  std::string_view softmax_shapes = "[[16,16,4096,4096],[],[]]";
  bool has_backward = false;
  Nanoseconds thinking = 0;
  int layers = 1;
};

// Four or five kernels of 4 ms each, and as many in the backward pass, if there is one.
Trace training(const Program& what) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int layer = 0; layer < what.layers; ++layer) {
      program.open(Kind::kPython, "model.py(103): forward");
      program.open(Kind::kOperator, what.around);
      std::vector<ProgramSketch::Handle> forward;
      forward.push_back(call(program, "aten::bmm", kProduct, kScores));
      forward.push_back(call(program, "aten::div", "elementwise_kernel", {}));
      forward.push_back(call(program, "aten::_softmax", "softmax_warp_forward", what.softmax_shapes));
      forward.push_back(call(program, "aten::copy_", "elementwise_kernel", {}));
      forward.push_back(call(program, what.has_last_product ? "aten::bmm" : "aten::mm", kProduct, kMixed));
      program.close();
      program.close();
      for (std::size_t i = forward.size(); what.has_backward && i-- > 0;) {
        for (const std::string_view op : {"autograd::engine::evaluate_function: SomeBackward0", "SomeBackward0"})
          program.sketch().set_cause(program.open(Kind::kOperator, op), forward[i]);
        call(program, "aten::grad", "elementwise_kernel", {});
        program.close();
        program.close();
      }
    }
    if (what.thinking > 0)
      program.run(Kind::kOperator, "aten::think", what.thinking);
    else
      program.wait();
  }
  return program.build();
}

TEST(UnfusedAttentionRule, one_kernel_takes_the_place_of_all_between_the_products) {
  const std::vector<Finding> findings = findings_of(training({}), "unfused_attention");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 3.70, 0.05);
  EXPECT_EQ(findings[0].fix.id, "sdpa");
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 103, "forward"}));
  EXPECT_EQ(findings[0].explanation,
            "Written out once per step, attention takes 20.0 ms (100 %) in 5 kernels; fused, it would never write its "
            "scores to memory.");
}

// The fused backward pass has 2.5 times the operations.
TEST(UnfusedAttentionRule, the_backward_pass_is_fused_as_well) {
  const std::vector<Finding> findings = findings_of(training({.has_backward = true}), "unfused_attention");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 40 - 3.5 * 3.70, 0.1);
}

TEST(UnfusedAttentionRule, is_silent_without_the_second_product_and_where_the_shapes_do_not_fit) {
  EXPECT_TRUE(findings_of(training({.has_last_product = false}), "unfused_attention").empty());
  EXPECT_TRUE(findings_of(training({.softmax_shapes = "[[16,16,4096],[],[]]"}), "unfused_attention").empty());
}

TEST(UnfusedAttentionRule, is_silent_within_the_fused_operator) {
  EXPECT_TRUE(
      findings_of(training({.around = "aten::_scaled_dot_product_attention_math"}), "unfused_attention").empty());
}

TEST(UnfusedAttentionRule, is_silent_when_the_host_takes_longer) {
  EXPECT_TRUE(findings_of(training({.thinking = 60 * kMillisecond}), "unfused_attention").empty());
}

const RuleSample k1Layer("unfused_attention", "1 layer", [] { return training({.layers = 1}); });
const RuleSample k2Layers("unfused_attention", "2 layers", [] { return training({.layers = 2}); });

}  // namespace
}  // namespace telltale
