#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kSlow = "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1";
constexpr std::string_view kFast = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";

KernelSketch product(std::string_view kernel, std::string_view shapes) {
  return {.op = "aten::mm",
          .name = kernel,
          .duration = 10 * kMillisecond,
          .shapes = shapes,
          .types = R"(["c10::BFloat16","c10::BFloat16"])"};
}

// A product, then 10 ms of something else; the host thinks for a while after both.
Trace training(const KernelSketch& product, Nanoseconds thinking = 0) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): step");
    program.kernel(product);
    program.kernel({.op = "aten::add", .name = "elementwise_kernel", .duration = 10 * kMillisecond});
    if (thinking > 0)
      program.run(Kind::kOperator, "aten::think", thinking);
    else
      program.wait();
  }
  return program.build();
}

TEST(MisalignedDimsRule, padding_leaves_a_fifth_of_the_product) {
  const std::vector<Finding> findings =
      findings_of(training(product(kSlow, "[[4096,768],[768,50257]]")), "misaligned_dims");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 8, 0.05);
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "Matrix products in 16 bits take 10.0 ms per step (50 %) in 1 slow kernel, because rows do not start at "
            "multiples of 16 bytes. The longest is M × N × K = 4096 × 50257 × 768.");
  EXPECT_EQ(findings[0].fix.id, "pad_dims");
  EXPECT_EQ(findings[0].fix.text, "Pad the widths of the layers to multiples of 64: 50257 to 50304.");
}

TEST(MisalignedDimsRule, without_shapes_the_kernel_tells) {
  const std::vector<Finding> findings = findings_of(training(product(kSlow, {})), "misaligned_dims");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].confidence, Confidence::kMedium);
  EXPECT_EQ(findings[0].fix.text, "Pad the widths of the layers to multiples of 64.");
}

TEST(MisalignedDimsRule, is_silent_about_kernels_for_whole_rows_and_about_whole_sizes) {
  EXPECT_TRUE(findings_of(training(product(kFast, "[[4096,768],[768,50257]]")), "misaligned_dims").empty());
  EXPECT_TRUE(findings_of(training(product(kSlow, "[[4096,768],[768,50304]]")), "misaligned_dims").empty());
}

TEST(MisalignedDimsRule, is_silent_when_the_host_takes_longer) {
  EXPECT_TRUE(
      findings_of(training(product(kSlow, "[[4096,768],[768,50257]]"), 30 * kMillisecond), "misaligned_dims").empty());
}

const RuleSample kOneOddWidth("misaligned_dims", "one odd width",
                              [] { return training(product(kSlow, "[[4096,768],[768,50257]]")); });
const RuleSample kTwoOddWidths("misaligned_dims", "two odd widths",
                               [] { return training(product(kSlow, "[[4096,769],[769,50257]]")); });
const RuleSample kNoShapes("misaligned_dims", "no shapes", [] { return training(product(kSlow, {})); });

}  // namespace
}  // namespace telltale
