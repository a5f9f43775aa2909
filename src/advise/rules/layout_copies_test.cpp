#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kShapes = "[[64,28,28,512],[64,28,28,512],[]]";
constexpr std::string_view kFloats = R"(["float","float",""])";
constexpr std::string_view kFromPermuted = "[[401408,14336,512,1],[401408,28,1,784],[]]";
constexpr std::string_view kFromSlice = "[[401408,14336,512,1],[802816,28672,1024,1],[]]";

KernelSketch copy(std::string_view types, std::string_view strides) {
  return {.op = "aten::copy_",
          .name = "elementwise_kernel<direct_copy>",
          .duration = 2 * kMillisecond,
          .shapes = kShapes,
          .types = types,
          .strides = strides};
}

// contiguous(), 10 ms of work, and in the backward pass a copy of the gradient; then the host thinks, or waits.
Trace training(const KernelSketch& copied, std::string_view around = "aten::contiguous", Nanoseconds thinking = 0) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(36): forward");
    program.open(Kind::kOperator, around);
    program.open(Kind::kOperator, "aten::clone");
    program.kernel(copied);
    program.close();
    program.close();
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 10 * kMillisecond});
    program.close();
    program.open(Kind::kOperator, "autograd::engine::evaluate_function: ViewBackward0");
    program.kernel(copied);
    program.close();
    if (thinking > 0)
      program.run(Kind::kOperator, "aten::think", thinking);
    else
      program.wait();
  }
  return program.build();
}

TEST(LayoutCopiesRule, copies_of_tensors_and_of_their_gradients_vanish) {
  const std::vector<Finding> findings = findings_of(training(copy(kFloats, kFromPermuted)), "layout_copies");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 + 2, 0.05);
  EXPECT_EQ(findings[0].fix.id, "contiguous_layout");
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 36, "forward"}));
  EXPECT_EQ(findings[0].explanation,
            "Copies that only reorder dimensions take 4.00 ms per step (29 %) in 2 kernels: permute() is free, but the "
            "contiguous() after it moves the whole tensor, and the backward pass moves its gradient.");
}

TEST(LayoutCopiesRule, without_strides_contiguous_tells) {
  KernelSketch copied = copy({}, {});
  copied.shapes = {};
  const std::vector<Finding> findings = findings_of(training(copied), "layout_copies");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2, 0.05);
  EXPECT_TRUE(findings_of(training(copied, "aten::roll"), "layout_copies").empty());
}

TEST(LayoutCopiesRule, is_silent_about_casts_and_slices) {
  EXPECT_TRUE(findings_of(training(copy(R"(["c10::BFloat16","float",""])", kFromPermuted)), "layout_copies").empty());
  EXPECT_TRUE(findings_of(training(copy(kFloats, kFromSlice)), "layout_copies").empty());
}

TEST(LayoutCopiesRule, is_silent_about_copies_that_another_operator_makes) {
  EXPECT_TRUE(findings_of(training(copy(kFloats, kFromPermuted), "aten::matmul"), "layout_copies").empty());
}

TEST(LayoutCopiesRule, is_silent_when_the_host_takes_longer) {
  EXPECT_TRUE(
      findings_of(training(copy(kFloats, kFromPermuted), "aten::contiguous", 30 * kMillisecond), "layout_copies")
          .empty());
}

const RuleSample k1KernelPerStep("layout_copies", "1 kernel per step", [] {
  KernelSketch copied = copy({}, {});
  copied.shapes = {};
  return training(copied);
});
const RuleSample k2KernelsPerStep("layout_copies", "2 kernels per step",
                                  [] { return training(copy(kFloats, kFromPermuted)); });

}  // namespace
}  // namespace telltale
