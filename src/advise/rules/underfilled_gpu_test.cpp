#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Two kernels a step, of 10 ms together; then the host thinks, or waits.
Trace training(const KernelSketch& first, const KernelSketch& second, Nanoseconds thinking = 0) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): step");
    program.kernel(first);
    program.kernel(second);
    if (thinking > 0)
      program.run(Kind::kOperator, "aten::think", thinking);
    else
      program.wait();
  }
  return program.build();
}

KernelSketch reduction(float blocks, Nanoseconds duration) {
  return {.op = "aten::_log_softmax",
          .name = "cunn_SoftMaxForward",
          .duration = duration,
          .blocks_per_multiprocessor = blocks};
}

// 8 ms grow by a tenth, 2 ms are doubled: 12.8 ms for two batches, of which 0.96 was kept elsewhere.
TEST(UnderfilledGpuRule, twice_the_batch_fills_what_is_empty_first) {
  const std::vector<Finding> findings =
      findings_of(training(reduction(0.1F, 8 * kMillisecond), reduction(4, 2 * kMillisecond)), "underfilled_gpu");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.96 * (10 - 12.8 / 2), 0.05);
  EXPECT_EQ(findings[0].fix.id, "larger_batch");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "Kernels with fewer than 0.5 blocks per multiprocessor, or with too few rows to fill a tile, take 8.00 ms "
            "per step (80 %); at twice the batch they would take little longer, and each request 35 % less.");
}

// 8 rows of 64, with which a tile has room, read 64 MB of weights: twice as many rows take no longer.
TEST(UnderfilledGpuRule, products_of_few_rows_wait_for_their_weights) {
  const KernelSketch product = {.op = "aten::mm",
                                .name = "sgemm_32x32_nn",
                                .duration = 8 * kMillisecond,
                                .shapes = "[[8,4096],[4096,4096]]",
                                .types = R"(["float","float"])",
                                .blocks_per_multiprocessor = 8};
  const std::vector<Finding> findings =
      findings_of(training(product, reduction(0.25F, 4 * kMillisecond)), "underfilled_gpu");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.96 * (12 - (8 + 5) / 2.0), 0.05);
}

TEST(UnderfilledGpuRule, is_silent_about_kernels_whose_blocks_walk_through_the_batch) {
  KernelSketch walking = reduction(0.1F, 8 * kMillisecond);
  walking.name = "embedding_backward_feature_kernel<float>";
  EXPECT_TRUE(findings_of(training(walking, reduction(4, 2 * kMillisecond)), "underfilled_gpu").empty());
}

TEST(UnderfilledGpuRule, is_silent_about_collectives) {
  KernelSketch collective = reduction(0.1F, 8 * kMillisecond);
  collective.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  EXPECT_TRUE(findings_of(training(collective, reduction(4, 2 * kMillisecond)), "underfilled_gpu").empty());
}

TEST(UnderfilledGpuRule, is_silent_when_few_kernels_are_too_small_or_the_host_takes_longer) {
  EXPECT_TRUE(
      findings_of(training(reduction(0.1F, 1 * kMillisecond), reduction(4, 9 * kMillisecond)), "underfilled_gpu")
          .empty());
  EXPECT_TRUE(
      findings_of(training(reduction(0.1F, 8 * kMillisecond), reduction(4, 2 * kMillisecond), 40 * kMillisecond),
                  "underfilled_gpu")
          .empty());
}

const RuleSample kASmallReduction("underfilled_gpu", "a small reduction", [] {
  return training(reduction(0.1F, 8 * kMillisecond), reduction(4, 2 * kMillisecond));
});

}  // namespace
}  // namespace telltale
