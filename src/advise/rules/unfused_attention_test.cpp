#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kProduct = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";
constexpr std::string_view kTypes = R"(["c10::BFloat16","c10::BFloat16"])";
// Each product has 2 · 256 · 4096 · 4096 · 64 operations: 1.1e12 together, for which 0.31 of 989.4 TFLOP/s take 3.585
// ms; the backward pass has 2.5 times as many, for which 0.23 take 12.08 ms.
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
  std::string_view mask = {};  // the shapes of what scales or masks the scores
  bool has_shapes = true;
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
      const auto shapes = [&](std::string_view those) { return what.has_shapes ? those : std::string_view{}; };
      forward.push_back(call(program, "aten::bmm", kProduct, shapes(kScores)));
      forward.push_back(call(program, "aten::add", "elementwise_kernel", what.mask));
      forward.push_back(call(program, "aten::_softmax", "softmax_warp_forward", shapes(what.softmax_shapes)));
      forward.push_back(call(program, "aten::copy_", "elementwise_kernel", {}));
      forward.push_back(call(program, what.has_last_product ? "aten::bmm" : "aten::mm", kProduct, shapes(kMixed)));
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
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 3.59, 0.05);
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
  EXPECT_NEAR(likely_ms(findings[0]), 40 - 3.59 - 12.09, 0.1);
}

// Of 32 · 32 tiles, a causal kernel computes the lower half with its diagonal: 33 / 64 of 3.585 ms. A mask with a row
// for each head, or one for each sample's keys, is none.
TEST(UnfusedAttentionRule, a_causal_mask_halves_the_fused_kernel) {
  const auto saved = [](std::string_view mask) {
    const std::vector<Finding> findings = findings_of(training({.mask = mask}), "unfused_attention");
    return findings.empty() ? 0 : likely_ms(findings[0]);
  };
  EXPECT_NEAR(saved("[[16,16,4096,4096],[16,1,4096,4096],[]]"), 20 - 3.585 * 33 / 64, 0.05);
  EXPECT_NEAR(saved("[[16,16,4096,4096],[1,16,4096,4096],[]]"), 20 - 3.59, 0.05);
  EXPECT_NEAR(saved("[[16,16,4096,4096],[16,1,1,4096],[]]"), 20 - 3.59, 0.05);
}

// A product, a softmax and a product cost the host 105 µs each and hardly anything on the device. Their nodes of the
// backward pass take autograd's thread 60 µs each, 40 µs behind what comes before, while the calling thread waits.
Trace training_on_a_slow_host() {
  ProgramSketch program;
  const TrackId autograd = program.sketch().thread("thread 7 (pt_autograd_0)");
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(103): forward");
    std::vector<ProgramSketch::Handle> forward;
    for (const std::string_view op : {"aten::bmm", "aten::_softmax", "aten::bmm"}) {
      forward.push_back(program.open(Kind::kOperator, op));
      program.spend(100 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "kernel", 5 * kMicrosecond);
      program.close();
    }
    program.close();
    program.open(Kind::kPython, "torch/_tensor.py(623): backward");
    for (std::size_t i = forward.size(); i-- > 0;) {
      program.spend(40 * kMicrosecond);
      const Nanoseconds begin = program.now(), end = begin + 60 * kMicrosecond;
      const std::string_view node = i == 1 ? "autograd::engine::evaluate_function: SoftmaxBackward0"
                                           : "autograd::engine::evaluate_function: BmmBackward0";
      program.sketch().set_cause(program.sketch().op(autograd, node, begin, end), forward[i]);
      const auto call = program.sketch().event(autograd, Kind::kRuntime, "cudaLaunchKernel", end - 5'000, end);
      program.sketch().work(program.stream(), Kind::kKernel, "kernel", end, end + 5'000, call);
      program.spend(60 * kMicrosecond);
    }
    program.close();
    program.run(Kind::kOperator, "aten::think", 1 * kMillisecond);
  }
  return program.build();
}

// Of the forward pass the softmax and the second product go, of the backward pass their nodes, and the time between
// these. The first node comes 40 µs after the call, and the last one, of the first product, 40 behind the one before.
TEST(UnfusedAttentionRule, the_host_makes_the_calls_of_one_product_where_it_made_all) {
  const std::vector<Finding> findings = findings_of(training_on_a_slow_host(), "unfused_attention");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 * 0.105 + 2 * 0.06 + 0.04, 0.01);
}

TEST(UnfusedAttentionRule, without_shapes_the_time_of_the_products_remains) {
  const std::vector<Finding> findings = findings_of(training({.has_shapes = false}), "unfused_attention");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 2 * 4, 0.05);
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
