#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Program {
  bool trains = false;  // half of the products are in a backward pass
  Nanoseconds kernel = 10 * kMicrosecond;
  int waits = 0;                // per step, within the forward pass
  bool changes_shapes = false;  // with every step
  int products = 20;            // per step
};

// 20 products a step, each of which costs the host 100 µs, and 20 µs in which the last one ends.
Trace program_of(const Program& options) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "forward");
    for (int i = 0; i < options.products; ++i) {
      if (i == 5)
        for (int wait = 0; wait < options.waits; ++wait) program.wait();
      if (i == 10 && options.trains) {
        program.close();
        program.open(Kind::kAnnotation, "backward");
      }
      const auto op = program.open(Kind::kOperator, "aten::linear");
      if (options.changes_shapes) program.sketch().set_inputs(op, "[[8," + std::to_string(step) + "]]");
      program.spend(95 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "gemm", options.kernel);
      program.close();
    }
    program.close();
    program.spend(20 * kMicrosecond);
  }
  return program.build();
}

// Unobserved, a product costs 8 µs less (an operator and a call); as a graph the kernels follow one another by 0.3 µs.
constexpr double kUnobserved = 20 * (0.1 - 0.008) + 0.02;

TEST(LaunchBoundRule, an_inference_runs_as_one_graph) {
  const std::vector<Finding> findings = findings_of(program_of({}), "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kUnobserved - 20 * 0.0103, 0.01);
  EXPECT_EQ(findings[0].fix.id, "cuda_graph");
  EXPECT_EQ(findings[0].explanation,
            "A step has 20 kernels of 10.0 µs on average; preparing and launching them takes the host longer, so the "
            "GPU has nothing to do for 89 % of the step.");
}

TEST(LaunchBoundRule, evidence_is_different_kernels) {
  const std::vector<Finding> findings = findings_of(program_of({}), "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  std::vector<EventId> evidence = findings[0].evidence;
  EXPECT_EQ(evidence.size(), Finding::kMaxEvidence);
  std::ranges::sort(evidence);
  EXPECT_EQ(std::ranges::adjacent_find(evidence), evidence.end());
}

// The third kernel of each step waits for five times as long as the others, and is the longest.
TEST(LaunchBoundRule, evidence_begins_with_the_longest_wait) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "forward");
    for (int i = 0; i < 20; ++i) {
      program.open(Kind::kOperator, "aten::linear");
      program.spend((i == 2 ? 500 : 95) * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, i == 2 ? "awaited" : "gemm", (i == 2 ? 12 : 10) * kMicrosecond);
      program.close();
    }
    program.close();
  }
  const Trace trace = program.build();
  const std::vector<Finding> findings = findings_of(trace, "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(trace.name(findings[0].evidence.at(i)), "awaited");
}

// The graphs of a training cost the host 0.9 ms a step; what is outside of the model stays.
TEST(LaunchBoundRule, a_training_is_compiled_with_graphs) {
  const std::vector<Finding> findings = findings_of(program_of({.trains = true}), "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kUnobserved - 0.92, 0.01);
  EXPECT_EQ(findings[0].fix.id, "compile_graphs");
}

// Half of the host's time in the model remains, and 0.5 ms of guards.
TEST(LaunchBoundRule, a_training_whose_shapes_change_is_compiled_without_graphs) {
  const std::vector<Finding> findings =
      findings_of(program_of({.trains = true, .changes_shapes = true}), "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kUnobserved - (20 * 0.046 + 0.02 + 0.5), 0.01);
  EXPECT_EQ(findings[0].fix.id, "compile");
}

// The host does for two batches what it does for one: half of the step, of which 0.96 was kept elsewhere.
TEST(LaunchBoundRule, where_waits_rule_graphs_out_only_more_work_a_launch_helps) {
  const std::vector<Finding> findings = findings_of(program_of({.trains = true, .waits = 4}), "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.96 * kUnobserved / 2, 0.02);
  EXPECT_EQ(findings[0].fix.id, "larger_batch");
}

TEST(LaunchBoundRule, is_silent_where_the_device_only_copies_and_communicates) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 20; ++i) {
      program.run(Kind::kOperator, "aten::linear", 95 * kMicrosecond);
      program.launch("cudaMemcpyAsync", Kind::kMemcpy, "Memcpy DtoD", 5 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 5 * kMicrosecond);
    }
  }
  EXPECT_TRUE(findings_of(program.build(), "launch_bound").empty());
}

TEST(LaunchBoundRule, a_training_is_told_what_graphs_add) {
  const std::vector<Finding> findings = findings_of(program_of({.trains = true}), "launch_bound");
  ASSERT_EQ(findings.size(), 1);
  // Plain compiling leaves half of 20 · 92 µs and adds 0.5 ms; with graphs 0.9 ms remain.
  const std::string& text = findings[0].explanation;
  EXPECT_NE(text.find("torch.compile alone would save 42"), std::string::npos) << text;
  EXPECT_NE(text.find(" µs per step (23 %), and CUDA graphs another 52"), std::string::npos) << text;
}

TEST(LaunchBoundRule, is_silent_where_the_device_is_busy) {
  EXPECT_TRUE(findings_of(program_of({.kernel = 200 * kMicrosecond}), "launch_bound").empty());
}

TEST(LaunchBoundRule, is_silent_below_its_threshold) {
  // 1.86 ms on the host without the observer, 1.6 on the device: idle for 14 %.
  EXPECT_TRUE(findings_of(program_of({.kernel = 80 * kMicrosecond}), "launch_bound").empty());
}

TEST(LaunchBoundRule, is_silent_without_a_device_and_where_launches_block) {
  ProgramSketch host_only;
  for (int step = 0; step < 3; ++step) {
    host_only.begin_step();
    host_only.run(Kind::kOperator, "aten::mm", 5 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(host_only.build(), "launch_bound").empty());

  ProgramSketch blocking;
  for (int step = 0; step < 3; ++step) {
    blocking.begin_step();
    for (int i = 0; i < 10; ++i) {
      blocking.run(Kind::kOperator, "aten::mm", 1 * kMillisecond);
      blocking.blocking_launch("cudaLaunchKernel", Kind::kKernel, "gemm", 100 * kMicrosecond);
    }
  }
  EXPECT_TRUE(findings_of(blocking.build(), "launch_bound").empty());
}

const RuleSample kInference("launch_bound", "inference", [] { return program_of({}); });
const RuleSample kInferenceOf1KernelPerStep("launch_bound", "inference of 1 kernel per step",
                                            [] { return program_of({.products = 1}); });
const RuleSample kTraining("launch_bound", "training", [] { return program_of({.trains = true}); });
const RuleSample kTrainingWhoseShapesChange("launch_bound", "training whose shapes change",
                                            [] { return program_of({.trains = true, .changes_shapes = true}); });
const RuleSample kTrainingWithWaits("launch_bound", "training with waits",
                                    [] { return program_of({.trains = true, .waits = 4}); });

}  // namespace
}  // namespace telltale
