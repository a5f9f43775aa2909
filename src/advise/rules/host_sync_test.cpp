#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Each step computes, reads values back and thinks.
Trace training(Nanoseconds computing, Nanoseconds thinking, std::string_view around = {}, int values = 1) {
  ProgramSketch program;
  program.sketch().trace().recorded.stacks = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel("aten::mm", computing);
    if (!around.empty()) program.open(Kind::kPython, around);
    for (int i = 0; i < values; ++i) {
      program.open(Kind::kOperator, "aten::item");
      program.wait();
      program.close();
    }
    if (!around.empty()) program.close();
    program.run(Kind::kPython, "train.py(30): think", thinking);
  }
  return program.build();
}

// 3 ms on the device and 1 ms on the host, one after the other; without the wait the device alone sets the pace.
TEST(HostSyncRule, without_the_wait_host_and_device_work_side_by_side) {
  const std::vector<Finding> findings =
      findings_of(training(3 * kMillisecond, 1 * kMillisecond, "train.py(12): loss_of"), "host_sync");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1, 0.02);
  EXPECT_EQ(findings[0].fix.id, "remove_sync");
  EXPECT_EQ(findings[0].title, "The host waits for the GPU once per step");
  EXPECT_EQ(findings[0].evidence.size(), 3);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 12, "loss_of"}));
  EXPECT_EQ(findings[0].confidence, Confidence::kMedium);
}

// 1 ms on the device is hidden behind 3 ms on the host.
TEST(HostSyncRule, without_the_wait_the_host_sets_the_pace_where_it_is_slower) {
  const std::vector<Finding> findings = findings_of(training(1 * kMillisecond, 3 * kMillisecond), "host_sync");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1, 0.02);
}

TEST(HostSyncRule, is_silent_where_the_host_is_the_bottleneck_anyway) {
  EXPECT_TRUE(findings_of(training(10 * kMicrosecond, 5 * kMillisecond), "host_sync").empty());
}

TEST(HostSyncRule, is_silent_where_the_device_has_more_to_do_than_it_waits) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    const auto first = program.kernel("aten::mm", 1 * kMillisecond);
    program.kernel("aten::mm", 20 * kMillisecond);
    program.wait_for(first);  // the device goes on with the second
    program.run(Kind::kPython, "train.py(30): think", 1 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "host_sync").empty());
}

TEST(HostSyncRule, leaves_waits_of_the_loader_to_others) {
  EXPECT_TRUE(findings_of(training(3 * kMillisecond, 1 * kMillisecond, "torch/utils/data/dataloader.py(700): __next__"),
                          "host_sync")
                  .empty());
}

TEST(HostSyncRule, leaves_launches_that_block_to_others) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.blocking_launch("cudaLaunchKernel", Kind::kKernel, "gemm", 1 * kMillisecond);
    program.wait();
    program.run(Kind::kPython, "train.py(30): think", 1 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "host_sync").empty());
}

const RuleSample kWaits1TimePerStep("host_sync", "waits 1 time per step",
                                    [] { return training(3 * kMillisecond, 1 * kMillisecond, {}, 1); });
const RuleSample kWaits2TimesPerStep("host_sync", "waits 2 times per step",
                                     [] { return training(3 * kMillisecond, 1 * kMillisecond, {}, 2); });

}  // namespace
}  // namespace telltale
