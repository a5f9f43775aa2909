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

// A program that checks its input: the host needs 60 µs for nonzero, with two launches, and then 1 ms for a step whose
// kernels take the device 50 µs.
Trace checking() {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 4; ++i) {
      program.open(Kind::kPython, "<built-in method nonzero of Tensor object at 0x7faada87d180>");
      program.open(Kind::kOperator, "aten::nonzero");
      program.kernel("aten::count", 5 * kMicrosecond);
      program.wait();
      program.spend(40 * kMicrosecond);
      program.kernel("aten::fill", 5 * kMicrosecond);
      program.close();
      program.close();
    }
    program.open(Kind::kOperator, "aten::linear");
    program.spend(1 * kMillisecond);
    program.kernel("aten::mm", 50 * kMicrosecond);
    program.close();
  }
  return program.build();
}

// Where the host sets the pace, the calls that only fetch are what is saved: unobserved, each of four takes 40 µs and
// what launching and waiting leaves of 18, and the first one waits for the 50 µs of the step before.
TEST(HostSyncRule, operators_that_only_fetch_are_gone_with_the_wait) {
  const std::vector<Finding> findings = findings_of(checking(), "host_sync");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_GT(likely_ms(findings[0]), 4 * 0.030);
  EXPECT_LT(likely_ms(findings[0]), 4 * 0.058 + 0.05);
}

TEST(HostSyncRule, tells_of_shapes_that_depend_on_the_data) {
  const std::vector<Finding> findings = findings_of(checking(), "host_sync");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NE(findings[0].explanation.find("the shape of its result depends on the data"), std::string::npos);
  EXPECT_NE(findings[0].fix.text.find("torch.where"), std::string::npos);
}

// One step's work, and a wait for all of it that nothing follows.
TEST(HostSyncRule, is_silent_about_the_wait_that_ends_the_recording) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "serve.py(3): think", 1 * kMillisecond);
    program.kernel("aten::mm", 5 * kMillisecond);
  }
  program.wait("cudaDeviceSynchronize");
  EXPECT_TRUE(findings_of(program.build(), "host_sync").empty());
}

// The copy has to wait for 20 ms of work that was launched before the recording began.
TEST(HostSyncRule, is_silent_about_waits_for_work_that_is_not_in_the_file) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kOperator, "aten::item");
  const Nanoseconds start = program.now();
  const auto call = program.run(Kind::kRuntime, "hipMemcpyWithStream", 20 * kMillisecond);
  program.sketch().work(program.stream(), Kind::kMemcpy, "Memcpy DtoH", start + 19'990 * kMicrosecond,
                        start + 19'995 * kMicrosecond, call);
  program.close();
  program.kernel("aten::mm", 1 * kMillisecond);
  EXPECT_TRUE(findings_of(program.build(), "host_sync").empty());
}

const RuleSample kShapesThatDependOnData("host_sync", "shapes that depend on data", checking);
const RuleSample kWaits1TimePerStep("host_sync", "waits 1 time per step",
                                    [] { return training(3 * kMillisecond, 1 * kMillisecond, {}, 1); });
const RuleSample kWaits2TimesPerStep("host_sync", "waits 2 times per step",
                                     [] { return training(3 * kMillisecond, 1 * kMillisecond, {}, 2); });

}  // namespace
}  // namespace telltale
