#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kInTf32 = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32";
constexpr std::string_view kInBf16 = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";
constexpr double kClose = 0.05;

KernelSketch square(std::string_view kernel, Nanoseconds duration) {
  return {.op = "aten::mm",
          .name = kernel,
          .duration = duration,
          .shapes = "[[8192,8192],[8192,8192]]",
          .types = R"(["float","float"])"};
}

// Before each kernel the host thinks; after the last one it waits.
Trace training(const std::vector<KernelSketch>& kernels, Nanoseconds thinking = 0) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): step");
    for (const KernelSketch& kernel : kernels) {
      program.spend(thinking);
      program.kernel(kernel);
    }
    program.wait();
  }
  return program.build();
}

// 2 · 8192³ operations at 0.6 of 989.4 TFLOP/s take 1.85 ms, casts of 2 · 8192² numbers with 6 bytes each at 0.7 of
// 4.8 TB/s 0.24 ms.
TEST(NoMixedPrecisionRule, products_run_at_what_bfloat16_reaches_and_casts_are_added) {
  const std::vector<Finding> findings =
      findings_of(training({square(kInTf32, 10 * kMillisecond)}), "no_mixed_precision");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 - 1.85 - 0.24, kClose);
  EXPECT_EQ(findings[0].fix.id, "bf16");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "Matrix products, convolutions and attention in fp32 or TF32 take 10.0 ms per step (100 %); in bfloat16 "
            "they would take about 1.85 ms, plus 240 µs for casts.");
}

TEST(NoMixedPrecisionRule, images_get_smaller_and_batch_norms_in_nchw_slower) {
  const std::vector<KernelSketch> network = {
      {.op = "aten::cudnn_convolution", .name = kInTf32, .duration = 10 * kMillisecond},
      {.op = "aten::cudnn_batch_norm",
       .name = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>",
       .duration = 5 * kMillisecond},
      {.op = "aten::relu", .name = "vectorized_elementwise_kernel<4, float>", .duration = 4 * kMillisecond},
  };
  const std::vector<Finding> findings = findings_of(training(network), "no_mixed_precision");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * 0.45 - 5 * 0.4 + 4 * 0.5, kClose);
}

// The product and its casts as above. What moves memory keeps 0.65 of its time; norms stay in fp32.
TEST(NoMixedPrecisionRule, what_moves_memory_behind_products_gets_shorter) {
  const auto moving = [](std::string_view op, std::string_view kernel) {
    return KernelSketch{.op = op,
                        .name = kernel,
                        .duration = 4 * kMillisecond,
                        .shapes = "[[8192,8192],[]]",
                        .types = R"(["float",""])"};
  };
  const std::vector<KernelSketch> network = {square(kInTf32, 10 * kMillisecond),
                                             moving("aten::gelu", "vectorized_elementwise_kernel<4, float>"),
                                             moving("aten::native_layer_norm", "vectorized_layer_norm_kernel<float>")};
  const std::vector<Finding> findings = findings_of(training(network), "no_mixed_precision");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 - 1.85 - 0.24 + 4 * 0.35, kClose);
}

// Each of the ten products brings two casts, each of which costs the host 12 µs: 0.24 ms, where the device waits for
// the host.
TEST(NoMixedPrecisionRule, is_silent_where_casts_cost_the_host_more_than_the_device_saves) {
  const KernelSketch small = {.op = "aten::mm",
                              .name = kInTf32,
                              .duration = 50 * kMicrosecond,
                              .shapes = "[[256,1024],[1024,1024]]",
                              .types = R"(["float","float"])"};
  const std::vector<KernelSketch> products(10, small);
  EXPECT_TRUE(findings_of(training(products, 200 * kMicrosecond), "no_mixed_precision").empty());
  EXPECT_FALSE(findings_of(training(products, 0), "no_mixed_precision").empty());
}

TEST(NoMixedPrecisionRule, is_silent_about_a_program_in_mixed_precision) {
  const std::vector<KernelSketch> mixed = {square(kInBf16, 6 * kMillisecond), square(kInTf32, 5 * kMillisecond)};
  EXPECT_TRUE(findings_of(training(mixed), "no_mixed_precision").empty());
}

const RuleSample kAProductInTf32("no_mixed_precision", "a product in TF32",
                                 [] { return training({square(kInTf32, 10 * kMillisecond)}); });
const RuleSample kNoCastsKnown("no_mixed_precision", "no casts known", [] {
  return training({{.op = "aten::mm", .name = kInTf32, .duration = 10 * kMillisecond}});
});

}  // namespace
}  // namespace telltale
