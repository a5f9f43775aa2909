#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

constexpr std::string_view kDoubles = R"(["double","double"])";

// Three steps of a kernel in float64 and one of 10 ms in float32, on a line of its own.
Trace training(const KernelSketch& kernel, std::string_view device = "NVIDIA H200") {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, std::string(device)});
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): step");
    program.kernel(kernel);
    program.kernel({.op = "aten::mm",
                    .name = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_ffma",
                    .duration = 10 * kMillisecond,
                    .shapes = "[[4096,4096],[4096,4096]]",
                    .types = R"(["float","float"])"});
    program.wait();
  }
  return program.build();
}

KernelSketch product(Nanoseconds duration) {
  return {.op = "aten::mm",
          .name = "void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x32_16x4_tn_align1>(Params)",
          .duration = duration,
          .shapes = "[[8192,8192],[8192,8192]]",
          .types = kDoubles};
}

KernelSketch elementwise() {
  return {.op = "aten::mul",
          .name = "void at::native::vectorized_elementwise_kernel<2, at::native::AUnaryFunctor<double, double>>",
          .duration = 20 * kMillisecond,
          .shapes = "[[100000000],[]]",
          .types = kDoubles};
}

std::vector<Finding> found_in(const Trace& trace) { return findings_of(trace, "float64_on_device"); }

// 2 · 8192³ operations at 0.7 of 67 TFLOP/s take 23.4 ms; at 0.6, 27.4, and at 0.8, 20.5.
TEST(Float64OnDeviceRule, a_product_runs_at_what_float32_reaches) {
  const std::vector<Finding> findings = found_in(training(product(40 * kMillisecond)));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 40 - 23.44, 0.05);
  EXPECT_NEAR(static_cast<double>(findings[0].saving.low) / 1e6, 40 - 27.35, 0.05);
  EXPECT_NEAR(static_cast<double>(findings[0].saving.high) / 1e6, 40 - 20.51, 0.05);
  EXPECT_EQ(findings[0].fix.id, "float32");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "1 kernel on float64 takes 40.0 ms per step (80 %); on float32 it would take about 23.4 ms.");
}

// An RTX 4090 has 1.29 TFLOP/s in float64 and 82.6 in float32: 2 · 8192³ operations at 0.7 of these take 19 ms.
TEST(Float64OnDeviceRule, most_of_a_product_is_saved_where_the_device_has_few_units_for_float64) {
  const std::vector<Finding> findings = found_in(training(product(1000 * kMillisecond), "NVIDIA GeForce RTX 4090"));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1000 - 19.02, 0.05);
  EXPECT_TRUE(findings[0].explanation.ends_with(" This GPU computes float32 64 times as fast."))
      << findings[0].explanation;
}

// The steps of a pause took 45 ms instead of 50, kernel by kernel: what is recorded as 40 ms takes 36.
TEST(Float64OnDeviceRule, tells_what_a_device_takes_that_was_slower_while_it_was_recorded) {
  Trace trace = training(product(40 * kMillisecond));
  trace.metadata.emplace_back(
      kUnrecordedSteps, R"([{"when":"paused","took_ns":[45000000,45000000,45000000,45000000,45000000,45000000]}])");
  const std::vector<Finding> findings = found_in(trace);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 36 - 23.44, 0.05);
  EXPECT_EQ(findings[0].explanation,
            "1 kernel on float64 takes 36.0 ms per step (80 %); on float32 it would take about 23.4 ms.");
}

TEST(Float64OnDeviceRule, what_moves_numbers_moves_half_of_the_bytes) {
  const std::vector<Finding> findings = found_in(training(elementwise()));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10, 0.05);
}

TEST(Float64OnDeviceRule, a_product_of_unknown_shapes_or_on_an_unknown_device_has_half_of_the_bytes_too) {
  const std::vector<Finding> on_unknown = found_in(training(product(40 * kMillisecond), "GPU"));
  ASSERT_EQ(on_unknown.size(), 1);
  EXPECT_NEAR(likely_ms(on_unknown[0]), 20, 0.05);
  KernelSketch of_unknown = product(40 * kMillisecond);
  of_unknown.shapes = of_unknown.types = {};
  const std::vector<Finding> without_shapes = found_in(training(of_unknown));
  ASSERT_EQ(without_shapes.size(), 1);
  EXPECT_NEAR(likely_ms(without_shapes[0]), 20, 0.05);
}

TEST(Float64OnDeviceRule, promises_nothing_where_float32_is_no_faster) {
  EXPECT_TRUE(found_in(training(product(20 * kMillisecond))).empty());
}

TEST(Float64OnDeviceRule, is_silent_about_other_types_and_about_numbers_beside_a_tensor) {
  KernelSketch other = elementwise();
  other.name = "elementwise_kernel";
  for (const std::string_view types : {R"(["float","double"])", R"(["long int","double"])", R"(["float","float"])"}) {
    other.types = types;
    EXPECT_TRUE(found_in(training(other)).empty()) << types;
  }
  other.shapes = "[[100000000],[100000000]]";
  other.types = R"(["float","double"])";
  EXPECT_TRUE(found_in(training(other)).empty()) << "a conversion";
}

TEST(Float64OnDeviceRule, is_silent_when_the_host_takes_longer_than_the_kernel) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel(product(40 * kMillisecond));
    program.run(Kind::kOperator, "aten::think", 60 * kMillisecond);
  }
  EXPECT_TRUE(found_in(program.build()).empty());
}

const RuleSample kOneProduct("float64_on_device", "1 product per step",
                             [] { return training(product(40 * kMillisecond)); });
const RuleSample kTwoKernels("float64_on_device", "2 kernels per step on a consumer's GPU", [] {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA GeForce RTX 4090"});
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel(product(1000 * kMillisecond));
    program.kernel(elementwise());
    program.wait();
  }
  return program.build();
});

}  // namespace
}  // namespace telltale
