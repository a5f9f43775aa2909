#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Inference {
  Nanoseconds kernel = 10 * kMicrosecond;
  bool trains = false;
  bool waits = false;
  bool changes = false;
};

// 20 products a step, each of which costs the host 100 µs.
Trace inference(const Inference& options) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    if (options.trains) program.open(Kind::kAnnotation, "backward");
    for (int i = 0; i < (options.changes ? 20 + step : 20); ++i) {
      program.open(Kind::kOperator, "aten::linear");
      program.spend(95 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "gemm", options.kernel);
      program.close();
    }
    if (options.waits) program.wait();
  }
  return program.build();
}

// Unobserved, a product costs 8 µs less (an operator and a call); as a graph the kernels follow one another by 0.3 µs.
TEST(CudaGraphCandidateRule, one_launch_a_step_leaves_the_kernels_alone) {
  const std::vector<Finding> findings = findings_of(inference({}), "cuda_graph_candidate");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * (0.1 - 0.008 - 0.0103), 0.01);
  EXPECT_EQ(findings[0].fix.id, "cuda_graph");
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].explanation,
            "All 3 recorded steps launch the same kernels in the same order (20 per step) and never wait for the GPU, "
            "so one CUDA graph can launch them all.");
}

TEST(CudaGraphCandidateRule, is_silent_where_launches_hide_behind_the_device) {
  EXPECT_TRUE(findings_of(inference({.kernel = 200 * kMicrosecond}), "cuda_graph_candidate").empty());
}

TEST(CudaGraphCandidateRule, is_silent_about_steps_that_train_wait_or_change) {
  EXPECT_TRUE(findings_of(inference({.trains = true}), "cuda_graph_candidate").empty());
  EXPECT_TRUE(findings_of(inference({.waits = true}), "cuda_graph_candidate").empty());
  EXPECT_TRUE(findings_of(inference({.changes = true}), "cuda_graph_candidate").empty());
}

const RuleSample k20KernelsPerStep("cuda_graph_candidate", "20 kernels per step", [] { return inference({}); });

}  // namespace
}  // namespace telltale
