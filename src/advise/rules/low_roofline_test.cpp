#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kSoftmax =
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>(float*)";

Trace training(const KernelSketch& kernel, std::string_view device = "NVIDIA H200") {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, std::string(device)});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(9): loss");
    program.kernel(kernel);
    program.kernel({.op = "aten::copy_", .name = "elementwise_kernel", .duration = 10 * kMillisecond});
    program.wait();
  }
  return program.build();
}

// Reads and writes 16384 · 50304 numbers of 4 bytes: 6.59 GB, for which 4.8 TB/s take 1.37 ms.
KernelSketch softmax(Nanoseconds duration) {
  return {.op = "aten::_log_softmax",
          .name = kSoftmax,
          .duration = duration,
          .shapes = "[[16384,50304],[],[]]",
          .types = R"(["float","Scalar","Scalar"])"};
}

TEST(LowRooflineRule, the_worst_kernel_runs_at_two_thirds_of_its_roofline) {
  const std::vector<Finding> findings = findings_of(training(softmax(5 * kMillisecond)), "low_roofline");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 5 - 1.37 / 0.65, 0.05);
  EXPECT_EQ(findings[0].fix.id, "other");
  EXPECT_EQ(findings[0].confidence, Confidence::kLow);
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 9, "loss"}));
  EXPECT_EQ(findings[0].explanation,
            "cunn_SoftMaxForward takes 5.00 ms per step (33 %) and reaches 27 % of the speed that its operations and "
            "bytes allow; good kernels reach 65 %.");
}

TEST(LowRooflineRule, names_the_profiler_of_the_devices_maker) {
  const auto command = [](std::string_view device) {
    return findings_of(training(softmax(5 * kMillisecond), device), "low_roofline").at(0).fix.code;
  };
  EXPECT_EQ(command("NVIDIA H200"), "ncu --kernel-name cunn_SoftMaxForward python program.py");
  EXPECT_EQ(command("AMD Instinct MI300X"),
            "rocprof-compute profile --name step --kernel cunn_SoftMaxForward -- python program.py");
}

TEST(LowRooflineRule, is_silent_about_good_kernels_small_ones_and_devices_it_does_not_know) {
  EXPECT_TRUE(findings_of(training(softmax(2 * kMillisecond)), "low_roofline").empty());
  KernelSketch small = softmax(500 * kMicrosecond);
  small.shapes = "[[16,50304],[],[]]";
  EXPECT_TRUE(findings_of(training(small), "low_roofline").empty());
  EXPECT_TRUE(findings_of(training(softmax(5 * kMillisecond), "GPU"), "low_roofline").empty());
}

TEST(LowRooflineRule, leaves_what_other_rules_explain_to_them) {
  KernelSketch underfilled = softmax(5 * kMillisecond);
  underfilled.blocks_per_multiprocessor = 0.1F;
  EXPECT_TRUE(findings_of(training(underfilled), "low_roofline").empty());
  const KernelSketch in_fp32 = {.op = "aten::mm",
                                .name = "cutlass_80_simt_sgemm_256x128_8x4_nn_align1",
                                .duration = 100 * kMillisecond,
                                .shapes = "[[8192,8192],[8192,8192]]",
                                .types = R"(["float","float"])"};
  EXPECT_TRUE(findings_of(training(in_fp32), "low_roofline").empty());
  KernelSketch in_float64 = softmax(10 * kMillisecond);
  in_float64.types = R"(["double","Scalar","Scalar"])";
  EXPECT_TRUE(findings_of(training(in_float64), "low_roofline").empty());
}

const RuleSample kASlowSoftmax("low_roofline", "a slow softmax", [] { return training(softmax(5 * kMillisecond)); });

}  // namespace
}  // namespace telltale
