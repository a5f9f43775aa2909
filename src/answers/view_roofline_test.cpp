#include "answers/view_roofline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/testing/program_sketch.h"
#include "answers/testing/view_of.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

// A product of 512 × 512 matrices in 32 bits, and a kernel that nothing is known of.
std::shared_ptr<const View> product_view() {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel({.op = "aten::mm",
                    .name = "sgemm",
                    .duration = 100 * kMicrosecond,
                    .shapes = "[[512, 512], [512, 512]]",
                    .types = R"(["float", "float"])"});
    program.kernel("my::op", 50 * kMicrosecond);
  }
  program.sketch().trace().devices.push_back({.id = 0, .name = "NVIDIA H200"});
  return view_of(program.build());
}

TEST(Roofline, has_a_dot_for_each_kernel_whose_work_is_known) {
  const json page = json::parse(roofline(*product_view(), {})->json());
  ASSERT_EQ(page["kernels"].size(), 1u);
  const json& kernel = page["kernels"][0];
  EXPECT_EQ(kernel["name"], "sgemm");
  EXPECT_EQ(kernel["device_ns"], 100 * kMicrosecond);
  EXPECT_EQ(kernel["calls"], 3);
  const double flops = 2.0 * 512 * 512 * 512, bytes = 3.0 * 512 * 512 * 4;
  EXPECT_NEAR(kernel["flops_per_second"].get<double>(), flops / 100e-6, 1);
  EXPECT_NEAR(kernel["flops_per_byte"].get<double>(), flops / bytes, 1e-9);
  EXPECT_EQ(page["left_out_ns"], 50 * kMicrosecond);
}

TEST(Roofline, has_kernels_of_which_only_the_bytes_are_known) {
  ProgramSketch program;
  program.begin_step();
  program.kernel({.op = "aten::add",
                  .name = "vectorized_elementwise_kernel",
                  .duration = 100 * kMicrosecond,
                  .shapes = "[[512, 512], [512, 512], []]",
                  .types = R"(["float", "float", "Scalar"])"});
  program.sketch().trace().devices.push_back({.id = 0, .name = "NVIDIA H200"});
  const json page = json::parse(roofline(*view_of(program.build()), {})->json());
  ASSERT_EQ(page["kernels"].size(), 1u);
  const json& kernel = page["kernels"][0];
  EXPECT_TRUE(kernel["flops_per_second"].is_null());
  EXPECT_TRUE(kernel["flops_per_byte"].is_null());
  // Two inputs and an output of a MiB each.
  EXPECT_NEAR(kernel["bytes_per_second"].get<double>(), 3.0 * 512 * 512 * 4 / 100e-6, 1);
  EXPECT_EQ(page["left_out_ns"], 0);
}

// As NVIDIA's data sheet has them.
TEST(Roofline, has_the_ceilings_of_the_device) {
  const json page = json::parse(roofline(*product_view(), {})->json());
  EXPECT_EQ(page["device"], "NVIDIA H200");
  EXPECT_EQ(page["bytes_per_second"], 4.8e12);
  EXPECT_EQ(page["peaks"][1]["precision"], "fp32");
  EXPECT_EQ(page["peaks"][1]["flops_per_second"], 67e12);
}

TEST(Roofline, of_a_trace_without_device_work_is_empty) {
  const json page = json::parse(roofline(*view_of(TraceSketch().build()), {})->json());
  EXPECT_EQ(page["device"], "");
  EXPECT_TRUE(page["bytes_per_second"].is_null());
  EXPECT_TRUE(page["kernels"].empty());
}

}  // namespace
}  // namespace telltale::answers
