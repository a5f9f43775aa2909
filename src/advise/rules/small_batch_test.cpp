#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

struct Program {
  Nanoseconds computing = 1 * kMillisecond;
  Nanoseconds loading = 0;
  std::int64_t peak = 0;    // of the device's 10 GB; 0: not recorded
  std::int64_t in_use = 0;  // by the device's gauge, likewise
  int steps = 3;
  bool has_marks = true;
};

// The host thinks for 10 ms a step, whatever the batch.
Trace training(const Program& options) {
  ProgramSketch program;
  Device device{0, "GPU"};
  device.memory_bytes = 10 * kGigabyte;
  program.sketch().trace().devices.push_back(device);
  for (int step = 0; step < options.steps; ++step) {
    if (options.has_marks) program.begin_step();
    if (options.loading > 0)
      program.run(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", options.loading);
    program.run(Kind::kPython, "train.py(3): think", 10 * kMillisecond);
    if (options.peak > 0) program.sketch().allocate(program.thread(), program.now(), options.peak, 0, 64);
    program.kernel("aten::mm", options.computing);
    if (options.peak > 0) program.sketch().allocate(program.thread(), program.now(), -options.peak, 0, 64);
  }
  if (options.in_use > 0) {
    program.sketch().count("GPU 0: memory used (bytes)", kMillisecond, static_cast<double>(options.in_use));
    program.sketch().count("GPU 0: memory total (bytes)", kMillisecond, 10.0 * kGigabyte);
  }
  return program.build();
}

// Two batches take as long as one: a sample costs half, of which 0.96 was kept elsewhere.
TEST(SmallBatchRule, a_sample_costs_half_where_the_device_has_time_to_spare) {
  const std::vector<Finding> findings = findings_of(training({}), "small_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.96 * 5, 0.02);
  EXPECT_EQ(findings[0].fix.id, "larger_batch");
  EXPECT_EQ(findings[0].explanation,
            "The GPU works for 10 % of the step; at twice the batch a step would take little longer, and each request "
            "48 % less.");
  EXPECT_EQ(findings[0].evidence.size(), 3) << "the kernels";
}

// At twice the batch the device needs 14 ms for what the host prepares in 10: 7 ms a batch.
TEST(SmallBatchRule, a_sample_costs_more_once_the_device_is_full) {
  const std::vector<Finding> findings = findings_of(training({.computing = 7 * kMillisecond}), "small_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.96 * (10 - 7), 0.02);
}

TEST(SmallBatchRule, is_silent_where_little_is_gained_or_the_device_is_busy) {
  EXPECT_TRUE(findings_of(training({.computing = 9 * kMillisecond}), "small_batch").empty());
  EXPECT_TRUE(findings_of(training({.computing = 20 * kMillisecond}), "small_batch").empty());
}

TEST(SmallBatchRule, is_silent_where_twice_the_peak_does_not_fit) {
  const std::vector<Finding> findings = findings_of(training({.peak = 4 * kGigabyte}), "small_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_TRUE(findings[0].explanation.ends_with(" The memory peak is 3.73 GiB."));
  EXPECT_TRUE(findings_of(training({.peak = 5 * kGigabyte}), "small_batch").empty());
}

TEST(SmallBatchRule, knows_by_the_gauge_what_fits_where_no_allocations_were_recorded) {
  const std::vector<Finding> findings = findings_of(training({.in_use = 4 * kGigabyte}), "small_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_TRUE(findings[0].explanation.ends_with(" At most 3.73 GiB of the GPU's 9.31 GiB are in use."));
  EXPECT_TRUE(findings_of(training({.in_use = 5 * kGigabyte}), "small_batch").empty());
  EXPECT_EQ(findings_of(training({.peak = 4 * kGigabyte, .in_use = 9 * kGigabyte}), "small_batch").size(), 1)
      << "what the allocator keeps is no need of the program's";
}

TEST(SmallBatchRule, is_silent_where_the_device_waits_for_its_data) {
  EXPECT_TRUE(findings_of(training({.loading = 50 * kMillisecond}), "small_batch").empty());
}

TEST(SmallBatchRule, is_silent_about_a_trace_whose_steps_are_not_known) {
  EXPECT_TRUE(findings_of(training({.steps = 2, .has_marks = false}), "small_batch").empty());
}

const RuleSample kMemoryNotRecorded("small_batch", "memory not recorded", [] { return training({}); });
const RuleSample kMemoryToSpare("small_batch", "memory to spare", [] { return training({.peak = 4 * kGigabyte}); });

}  // namespace
}  // namespace telltale
