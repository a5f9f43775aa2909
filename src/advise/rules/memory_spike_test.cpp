#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

// Two steps with `held` in use all the time and a temporary tensor beside it.
Trace training(std::int64_t held, std::int64_t temporary) {
  ProgramSketch program;
  program.sketch().allocate(program.thread(), 0, held, 0, 1);
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kOperator, "aten::_to_copy");
    program.spend(kMillisecond);
    program.sketch().allocate(program.thread(), program.now(), temporary, 0, 2);
    program.spend(kMillisecond);
    program.close();
    program.sketch().allocate(program.thread(), program.now(), -temporary, 0, 2);
    program.kernel("aten::mm", kMillisecond);
  }
  return program.build();
}

TEST(MemorySpikeRule, names_the_tensor_that_makes_the_peak) {
  const std::vector<Finding> findings = findings_of(training(1024 * kMiB, 1024 * kMiB), "memory_spike");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
  EXPECT_EQ(findings[0].fix.id, "chunk");
  EXPECT_EQ(findings[0].title, "One temporary tensor takes 50 % of the peak memory");
  EXPECT_EQ(findings[0].explanation,
            "aten::_to_copy makes a tensor of 1.00 GiB, which is freed in the same step; the memory peak is 2.00 GiB.");
}

TEST(MemorySpikeRule, is_silent_when_the_tensor_is_a_small_part_or_small) {
  EXPECT_TRUE(findings_of(training(4096 * kMiB, 1024 * kMiB), "memory_spike").empty());
  EXPECT_TRUE(findings_of(training(100 * kMiB, 500 * kMiB), "memory_spike").empty());
}

TEST(MemorySpikeRule, is_silent_without_memory_events) {
  ProgramSketch program;
  program.begin_step();
  program.kernel("aten::mm", kMillisecond);
  EXPECT_TRUE(findings_of(program.build(), "memory_spike").empty());
}

const RuleSample kHalfOfThePeak("memory_spike", "half of the peak", [] { return training(1024 * kMiB, 1024 * kMiB); });

}  // namespace
}  // namespace telltale
