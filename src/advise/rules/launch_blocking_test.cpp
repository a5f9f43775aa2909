#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Three steps of ten operators that each take the host 100 µs beside the launch of a kernel.
Trace training(Nanoseconds kernel, bool blocks) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 10; ++i) {
      program.run(Kind::kOperator, "aten::view", 100 * kMicrosecond);
      if (!blocks) {
        program.kernel("aten::mm", kernel);
        continue;
      }
      const Nanoseconds begin = program.now() + ProgramSketch::kLaunch;
      const auto call =
          program.run(Kind::kRuntime, "cudaLaunchKernel", ProgramSketch::kLaunch + kernel + ProgramSketch::kWakeUp);
      program.sketch().work(program.stream(), Kind::kKernel, "kernel", begin, begin + kernel, call);
    }
  }
  return program.build();
}

TEST(LaunchBlockingRule, host_and_device_would_work_at_the_same_time) {
  const std::vector<Finding> findings = findings_of(training(60 * kMicrosecond, true), "launch_blocking");
  ASSERT_EQ(findings.size(), 1);
  // The kernel, the 2 µs until the host is awake, and what is the recorder's of 5 µs for a launch, at most 4.
  EXPECT_NEAR(likely_ms(findings[0]), 10 * (0.06 + 0.002 + 0.004), 0.01);
  EXPECT_EQ(findings[0].fix.id, "unset_launch_blocking");
  EXPECT_NE(findings[0].explanation.find("Launches (10 per step) return only"), std::string::npos);
}

TEST(LaunchBlockingRule, no_more_than_the_device_allows) {
  // The host then needs 1.05 ms, the device 3.
  const std::vector<Finding> findings = findings_of(training(300 * kMicrosecond, true), "launch_blocking");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * 0.1, 0.1);
}

TEST(LaunchBlockingRule, is_silent_when_launches_return_at_once_or_kernels_are_too_short_to_tell) {
  EXPECT_TRUE(findings_of(training(60 * kMicrosecond, false), "launch_blocking").empty());
  EXPECT_TRUE(findings_of(training(2 * kMicrosecond, true), "launch_blocking").empty());
}

const RuleSample k10LaunchesPerStep("launch_blocking", "10 launches per step",
                                    [] { return training(60 * kMicrosecond, true); });

}  // namespace
}  // namespace telltale
