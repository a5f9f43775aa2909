#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

// Steps that allocate a block each, and free it in the next step if at all. Nothing else is in use.
Trace training(int steps, std::int64_t bytes, bool frees, std::int64_t memory_of_device) {
  ProgramSketch program;
  Device device{0, "GPU"};
  device.memory_bytes = memory_of_device;
  program.sketch().trace().devices.push_back(device);
  for (std::uint64_t step = 1; step <= static_cast<std::uint64_t>(steps); ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(30): keep");
    program.open(Kind::kOperator, "aten::mean");
    program.spend(kMillisecond);
    program.sketch().allocate(program.thread(), program.now(), bytes, 0, step);
    program.spend(kMillisecond);
    if (frees && step > 1) program.sketch().allocate(program.thread(), program.now(), -bytes, 0, step - 1);
    program.close();
    program.kernel("aten::mm", kMillisecond);
  }
  return program.build();
}

TEST(MemoryLeakRule, tells_the_growth_and_when_the_memory_is_full) {
  const std::vector<Finding> findings = findings_of(training(4, 10 * kMiB, false, 1000 * kMiB), "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
  EXPECT_EQ(findings[0].saving.high, 0);
  EXPECT_EQ(findings[0].fix.id, "detach");
  EXPECT_EQ(findings[0].title, "Every step leaves 10.0 MiB of GPU memory allocated");
  EXPECT_EQ(findings[0].explanation,
            "Even at its lowest, the memory in use grows by 10.0 MiB per step; most of it was allocated by aten::mean "
            "and never freed. The GPU's memory will be full after about 96 more steps.");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 30, "keep"}));
}

TEST(MemoryLeakRule, is_silent_when_each_step_frees_what_the_last_one_left) {
  EXPECT_TRUE(findings_of(training(4, 10 * kMiB, true, 1000 * kMiB), "memory_leak").empty());
}

TEST(MemoryLeakRule, is_silent_about_little_growth_and_too_few_steps) {
  EXPECT_TRUE(findings_of(training(4, kMiB, false, 1000 * kMiB), "memory_leak").empty());
  EXPECT_TRUE(findings_of(training(2, 10 * kMiB, false, 1000 * kMiB), "memory_leak").empty());
}

const RuleSample k96MoreSteps("memory_leak", "96 more steps",
                              [] { return training(4, 10 * kMiB, false, 1000 * kMiB); });
const RuleSample k1MoreStep("memory_leak", "1 more step", [] { return training(4, 10 * kMiB, false, 50 * kMiB); });
const RuleSample k0MoreSteps("memory_leak", "0 more steps", [] { return training(4, 10 * kMiB, false, 40 * kMiB); });

}  // namespace
}  // namespace telltale
