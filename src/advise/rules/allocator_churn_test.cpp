#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Three steps of 10 ms on the host, some of which fetch memory for 2 ms and give it back for 1 ms.
Trace training(int first_with_allocation, int last_with_allocation, bool frees) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    if (step >= first_with_allocation && step <= last_with_allocation)
      program.run(Kind::kRuntime, "cudaMalloc", 2 * kMillisecond);
    program.kernel("aten::mm", kMicrosecond);
    program.run(Kind::kOperator, "aten::think", 10 * kMillisecond);
    if (frees) program.run(Kind::kRuntime, "cudaFree", 1 * kMillisecond);
  }
  return program.build();
}

TEST(AllocatorChurnRule, of_what_allocations_take_one_half_is_the_recorders) {
  const std::vector<Finding> findings = findings_of(training(0, 2, false), "allocator_churn");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.5 * 2, 0.01);
  EXPECT_EQ(findings[0].fix.id, "stable_shapes");
  EXPECT_EQ(findings[0].explanation, "A step calls cudaMalloc once, which takes 2.00 ms as recorded.");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 8, "step"}));
}

TEST(AllocatorChurnRule, names_the_calls_of_the_devices_maker) {
  Trace trace = training(0, 2, true);
  trace.metadata.emplace_back("hip_runtime_version", "60443483");
  EXPECT_EQ(findings_of(trace, "allocator_churn").at(0).explanation,
            "A step calls hipMalloc once and hipFree once, which takes 3.00 ms as recorded.");
}

TEST(AllocatorChurnRule, frees_in_every_step_mean_that_the_cache_is_emptied) {
  const std::vector<Finding> findings = findings_of(training(0, 2, true), "allocator_churn");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1 + 0.5 * 2, 0.01);
  EXPECT_EQ(findings[0].fix.id, "keep_cache");
}

TEST(AllocatorChurnRule, is_silent_about_what_only_the_first_steps_or_one_step_allocate) {
  EXPECT_TRUE(findings_of(training(0, 1, false), "allocator_churn").empty());
  EXPECT_TRUE(findings_of(training(2, 2, false), "allocator_churn").empty());
  EXPECT_FALSE(findings_of(training(1, 2, false), "allocator_churn").empty());
}

TEST(AllocatorChurnRule, is_silent_when_the_device_is_busy_meanwhile) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kRuntime, "cudaMalloc", 2 * kMillisecond);
    program.kernel("aten::mm", 20 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "allocator_churn").empty());
}

TEST(AllocatorChurnRule, is_silent_about_memory_of_the_host_and_stream_ordered_allocation) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kRuntime, "cudaMallocAsync", 2 * kMillisecond);
    program.run(Kind::kRuntime, "cudaMallocHost", 2 * kMillisecond);
    program.kernel("aten::mm", kMicrosecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "allocator_churn").empty());
}

// Each step leaves 64 MiB behind, for which memory is fetched.
TEST(AllocatorChurnRule, leaves_memory_that_grows_without_end_to_the_rule_about_leaks) {
  ProgramSketch program;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    program.begin_step();
    program.run(Kind::kRuntime, "cudaMalloc", 2 * kMillisecond);
    program.open(Kind::kOperator, "aten::mm");
    program.spend(kMillisecond);
    program.sketch().allocate(program.thread(), program.now(), 64 << 20, 0, step);
    program.spend(kMillisecond);
    program.close();
    program.kernel("aten::mm", kMicrosecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "allocator_churn").empty());
}

const RuleSample kAllocatesOncePerStep("allocator_churn", "allocates once per step",
                                       [] { return training(0, 2, false); });
const RuleSample kAllocatesAndFreesOncePerStep("allocator_churn", "allocates and frees once per step",
                                               [] { return training(0, 2, true); });
const RuleSample kAllocatesInTwoStepsOfThree("allocator_churn", "allocates in two steps of three",
                                             [] { return training(1, 2, false); });

}  // namespace
}  // namespace telltale
