#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kPlain = "cutlass_80_simt_sgemm_256x128_8x4_nn_align1";
constexpr std::string_view kInTf32 = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32";
constexpr std::string_view kFloats = R"(["float","float"])";
constexpr double kClose = 0.05;

// Two kernels a step, the second without arguments.
Trace training(const KernelSketch& first, const KernelSketch& second, std::string_view device = "NVIDIA H200") {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, std::string(device)});
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): step");
    program.kernel(first);
    program.kernel(second);
    program.wait();
  }
  return program.build();
}

KernelSketch square(std::string_view kernel, Nanoseconds duration) {
  return {
      .op = "aten::mm", .name = kernel, .duration = duration, .shapes = "[[8192,8192],[8192,8192]]", .types = kFloats};
}

const KernelSketch kOther = {.op = "aten::add", .name = "elementwise_kernel", .duration = 10 * kMillisecond};

// 2 · 8192³ operations at 0.57 of 494.7 TFLOP/s take 3.90 ms.
TEST(Fp32MatmulRule, a_product_runs_at_what_tf32_reaches) {
  const std::vector<Finding> findings = findings_of(training(square(kPlain, 20 * kMillisecond), kOther), "fp32_matmul");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 3.90, kClose);
  EXPECT_EQ(findings[0].fix.id, "tf32");
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "Matrix products in fp32 take 20.0 ms per step (67 %) in 1 kernel; in TF32, on tensor cores, they would "
            "take about 3.90 ms.");
}

TEST(Fp32MatmulRule, says_nothing_of_tf32_where_torch_does_not_offer_it) {
  constexpr std::string_view kTensile = "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1";
  for (const std::string_view device : {"AMD Instinct MI300X", "AMD Instinct MI210", "NPU", "MTIA"})
    EXPECT_TRUE(findings_of(training(square(kTensile, 20 * kMillisecond), kOther, device), "fp32_matmul").empty())
        << device;
}

TEST(Fp32MatmulRule, does_not_take_an_amd_architecture_for_a_compute_capability) {
  Trace trace = training(square(kPlain, 20 * kMillisecond), kOther, "");
  trace.devices[0].compute_major = 9;
  EXPECT_FALSE(findings_of(trace, "fp32_matmul").empty());
  trace.metadata.emplace_back("hip_runtime_version", "70051831");
  EXPECT_TRUE(findings_of(trace, "fp32_matmul").empty());
}

// 8193 · 4 bytes are no multiple of 16: 0.25 of the peak.
TEST(Fp32MatmulRule, odd_widths_reach_less) {
  KernelSketch product = square(kPlain, 20 * kMillisecond);
  product.shapes = "[[8192,8192],[8192,8193]]";
  const std::vector<Finding> findings = findings_of(training(product, kOther), "fp32_matmul");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 - 8.89, kClose);
}

// (2 · 8 · 8192 + 8192²) · 4 bytes at 0.65 of 4.8 TB/s take 86 µs.
TEST(Fp32MatmulRule, a_product_with_few_rows_waits_for_memory) {
  KernelSketch product = square(kPlain, 1 * kMillisecond);
  product.shapes = "[[8,8192],[8192,8192]]";
  const std::vector<Finding> findings = findings_of(training(product, kOther), "fp32_matmul");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1 - 0.086, 0.005);
}

TEST(Fp32MatmulRule, without_shapes_a_third_of_the_time_remains) {
  KernelSketch product = square(kPlain, 20 * kMillisecond);
  product.shapes = {};
  const std::vector<Finding> findings = findings_of(training(product, kOther), "fp32_matmul");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * 0.65, kClose);
}

TEST(Fp32MatmulRule, is_silent_where_the_library_uses_tf32) {
  EXPECT_TRUE(findings_of(training(square(kPlain, 20 * kMillisecond), square(kInTf32, 1 * kMillisecond)), "fp32_matmul")
                  .empty());
  // A convolution's is another library's.
  KernelSketch convolution = square(kInTf32, 1 * kMillisecond);
  convolution.op = "aten::cudnn_convolution";
  EXPECT_EQ(findings_of(training(square(kPlain, 20 * kMillisecond), convolution), "fp32_matmul").size(), 1);
}

TEST(Fp32MatmulRule, is_silent_about_products_with_a_vector_and_about_devices_without_tf32) {
  EXPECT_TRUE(
      findings_of(training(square("gemv2T_kernel_val<float>", 20 * kMillisecond), kOther), "fp32_matmul").empty());
  EXPECT_TRUE(
      findings_of(training(square(kPlain, 20 * kMillisecond), kOther, "Tesla V100-SXM2-16GB"), "fp32_matmul").empty());
}

TEST(Fp32MatmulRule, is_silent_when_the_host_takes_longer_than_the_product) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel(square(kPlain, 20 * kMillisecond));
    program.run(Kind::kOperator, "aten::think", 30 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "fp32_matmul").empty());
}

const RuleSample k1ProductPerStep("fp32_matmul", "1 product per step",
                                  [] { return training(square(kPlain, 20 * kMillisecond), kOther); });
const RuleSample k2ProductsPerStep("fp32_matmul", "2 products per step", [] {
  return training(square(kPlain, 20 * kMillisecond), square(kPlain, 20 * kMillisecond));
});

}  // namespace
}  // namespace telltale
