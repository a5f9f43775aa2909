#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kGiB = 1024LL * 1024 * 1024;

// Three steps on a device of 80 GiB that fetch memory for 2 ms, or do something else for as long.
Trace training(std::int64_t allocated, std::int64_t reserved, std::string_view call) {
  ProgramSketch program;
  Device device{0, "GPU"};
  device.memory_bytes = 80 * kGiB;
  program.sketch().trace().devices.push_back(device);
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.sketch().allocate(program.thread(), program.now(), 1, 0, 1);
    program.sketch().trace().memory.total_allocated.back() = allocated;
    program.sketch().trace().memory.total_reserved.back() = reserved;
    program.run(Kind::kRuntime, call, 2 * kMillisecond);
    program.kernel("aten::mm", kMicrosecond);
    program.run(Kind::kOperator, "aten::think", 8 * kMillisecond);
  }
  return program.build();
}

TEST(FragmentationRule, costs_memory_alone_when_nothing_is_fetched_anew) {
  const std::vector<Finding> findings = findings_of(training(30 * kGiB, 60 * kGiB, "cudaGetDevice"), "fragmentation");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
  EXPECT_EQ(findings[0].fix.id, "expandable_segments");
  EXPECT_EQ(findings[0].title, "50 % of the reserved GPU memory is unused");
  EXPECT_NE(findings[0].explanation.find("30.0 GiB, but torch has reserved 60.0 GiB"), std::string::npos);
}

TEST(FragmentationRule, saves_the_calls_that_every_step_makes) {
  const std::vector<Finding> findings = findings_of(training(30 * kGiB, 60 * kGiB, "cudaMalloc"), "fragmentation");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.5 * 2, 0.01);
}

TEST(FragmentationRule, is_silent_when_little_is_unused_or_the_device_has_plenty) {
  EXPECT_TRUE(findings_of(training(50 * kGiB, 60 * kGiB, "cudaMalloc"), "fragmentation").empty());
  EXPECT_TRUE(findings_of(training(2 * kGiB, 8 * kGiB, "cudaMalloc"), "fragmentation").empty());
}

const RuleSample kHalfOfItIsUnused("fragmentation", "half of it is unused",
                                   [] { return training(30 * kGiB, 60 * kGiB, "cudaGetDevice"); });

}  // namespace
}  // namespace telltale
