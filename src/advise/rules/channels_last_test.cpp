#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kNorm = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<__half, float, int, 512, true, 1, true>";

// Three steps of a convolution between two conversions, then a batch norm; the host thinks at the end, or waits.
Trace training(Nanoseconds conversion, const KernelSketch& norm, Nanoseconds thinking = 0) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): step");
    program.kernel({.op = "aten::cudnn_convolution", .name = "nchwToNhwcKernel<__half>", .duration = conversion});
    program.kernel({.op = "aten::cudnn_convolution", .name = "sm90_xmma_fprop_f16", .duration = 10 * kMillisecond});
    program.kernel({.op = "aten::cudnn_convolution", .name = "nhwcToNchwKernel<__half>", .duration = conversion});
    program.kernel(norm);
    if (thinking > 0)
      program.run(Kind::kOperator, "aten::think", thinking);
    else
      program.wait();
  }
  return program.build();
}

const KernelSketch kNormWithoutShapes = {.op = "aten::cudnn_batch_norm", .name = kNorm, .duration = 10 * kMillisecond};

TEST(ChannelsLastRule, conversions_vanish_and_half_of_the_norms_remains) {
  const std::vector<Finding> findings = findings_of(training(2 * kMillisecond, kNormWithoutShapes), "channels_last");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 + 2 + 10 * 0.45, 0.05);
  EXPECT_EQ(findings[0].fix.id, "channels_last");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "Convolutions want the channels last. Bringing them there and back takes 4.00 ms per step (17 %) in 2 "
            "conversions. Batch norms with the channels first take 10.0 ms and would be faster as well.");
}

// It reads and writes 128 · 64 · 512 · 512 numbers of 2 bytes: 8.59 GB, for which 4.8 TB/s take 1.79 ms.
TEST(ChannelsLastRule, norms_run_at_half_of_their_roofline) {
  KernelSketch norm = kNormWithoutShapes;
  norm.shapes = "[[128,64,512,512],[64],[64],[64],[64],[],[],[]]";
  norm.types = R"(["c10::Half","float","float","float","float","","",""])";
  const std::vector<Finding> findings = findings_of(training(2 * kMillisecond, norm), "channels_last");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 + 2 + 10 - 2 * 1.79, 0.05);
}

// cuDNN has no kernels for it: 0.3 of the roofline.
TEST(ChannelsLastRule, norms_in_bfloat16_reach_less) {
  const KernelSketch norm = {.op = "aten::native_batch_norm",
                             .name = "void at::native::batch_norm_transform_input_kernel<c10::BFloat16, float>",
                             .duration = 10 * kMillisecond,
                             .shapes = "[[128,64,512,512],[64],[64],[64],[64],[],[],[]]",
                             .types = R"(["c10::BFloat16","float","float","float","float","","",""])"};
  const std::vector<Finding> findings = findings_of(training(2 * kMillisecond, norm), "channels_last");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 + 2 + 10 - 1.79 / 0.3, 0.05);
}

TEST(ChannelsLastRule, is_silent_about_norms_alone_and_about_few_conversions) {
  EXPECT_TRUE(findings_of(training(300 * kMicrosecond, kNormWithoutShapes), "channels_last").empty());
}

TEST(ChannelsLastRule, is_silent_when_the_host_takes_longer) {
  EXPECT_TRUE(findings_of(training(2 * kMillisecond, kNormWithoutShapes, 60 * kMillisecond), "channels_last").empty());
}

const RuleSample kTwoConversionsPerStep("channels_last", "two conversions per step",
                                        [] { return training(2 * kMillisecond, kNormWithoutShapes); });
const RuleSample kWithoutBatchNorms("channels_last", "without batch norms", [] {
  return training(2 * kMillisecond, {.op = "aten::relu", .name = "elementwise_kernel", .duration = kMillisecond});
});

}  // namespace
}  // namespace telltale
