#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

struct Training {
  std::string_view again = "torch/utils/checkpoint.py(1100): unpack_hook";  // what computes in the backward pass
  bool computes_again = true;
  std::int64_t peak = 0;    // of the device's 10 GB; 0: not recorded
  std::int64_t in_use = 0;  // by the device's gauge, likewise
};

// 10 ms forward, 8 of them once more within the backward pass, and 20 ms backward. The host waits for all.
Trace training(const Training& options) {
  ProgramSketch program;
  Device device{0, "GPU"};
  device.memory_bytes = 10 * kGigabyte;
  program.sketch().trace().devices.push_back(device);
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    if (options.peak > 0) program.sketch().allocate(program.thread(), program.now(), options.peak, 0, 64);
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 10 * kMillisecond});
    program.open(Kind::kAnnotation, "backward");
    program.open(Kind::kPython, options.again);
    if (options.computes_again) program.kernel({.op = "aten::mm", .name = "gemm", .duration = 8 * kMillisecond});
    program.close();
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 20 * kMillisecond});
    program.close();
    program.wait();
    if (options.peak > 0) program.sketch().allocate(program.thread(), program.now(), -options.peak, 0, 64);
  }
  if (options.in_use > 0) {
    program.sketch().count("GPU 0: memory used (bytes)", kMillisecond, static_cast<double>(options.in_use));
    program.sketch().count("GPU 0: memory total (bytes)", kMillisecond, 10.0 * kGigabyte);
  }
  return program.build();
}

TEST(ExcessRecomputeRule, what_is_computed_again_is_saved) {
  const std::vector<Finding> findings = findings_of(training({}), "excess_recompute");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 8, 0.02);
  EXPECT_EQ(findings[0].fix.id, "no_checkpointing");
  EXPECT_EQ(findings[0].confidence, Confidence::kMedium);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 8, "step"}));
  EXPECT_EQ(findings[0].explanation, "Checkpointing repeats 8.00 ms of GPU work per step in the backward pass.");
}

TEST(ExcessRecomputeRule, speaks_only_where_memory_is_left) {
  const std::vector<Finding> findings = findings_of(training({.peak = 2 * kGigabyte}), "excess_recompute");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_TRUE(findings[0].explanation.ends_with("; the memory peak is only 1.86 GiB."));
  EXPECT_TRUE(findings_of(training({.peak = 6 * kGigabyte}), "excess_recompute").empty());
}

TEST(ExcessRecomputeRule, knows_by_the_gauge_that_memory_is_left_where_no_allocations_were_recorded) {
  const std::vector<Finding> findings = findings_of(training({.in_use = 2 * kGigabyte}), "excess_recompute");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_TRUE(findings[0].explanation.ends_with("; the memory peak is only 1.86 GiB."));
  EXPECT_TRUE(findings_of(training({.in_use = 6 * kGigabyte}), "excess_recompute").empty());
}

TEST(ExcessRecomputeRule, is_silent_about_other_hooks_and_where_nothing_is_computed_again) {
  EXPECT_TRUE(findings_of(training({.again = "torch/autograd/graph.py(300): hook"}), "excess_recompute").empty());
  EXPECT_TRUE(findings_of(training({.computes_again = false}), "excess_recompute").empty());
}

TEST(ExcessRecomputeRule, is_silent_about_the_forward_pass_of_a_checkpoint) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "torch/utils/checkpoint.py(400): checkpoint");
    program.open(Kind::kModule, "nn.Module: Block_0");
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 8 * kMillisecond});
    program.close();
    program.close();
    program.wait();
  }
  EXPECT_TRUE(findings_of(program.build(), "excess_recompute").empty());
}

const RuleSample kMemoryNotRecorded("excess_recompute", "memory not recorded", [] { return training({}); });
const RuleSample kMemoryToSpare("excess_recompute", "memory to spare",
                                [] { return training({.peak = 2 * kGigabyte}); });

}  // namespace
}  // namespace telltale
