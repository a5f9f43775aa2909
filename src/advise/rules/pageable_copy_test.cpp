#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

// Three steps on a Hopper GPU that copy for 10 ms and then compute.
Trace training(CopyInfo copy, Nanoseconds computing, bool waits_at_end) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "GPU", {}, 9, 0});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(5): step");
    program.copy("aten::copy_", copy, 10 * kMillisecond, true);
    program.kernel("aten::mm", computing);
    if (waits_at_end) program.wait();
  }
  return program.build();
}

TEST(PageableCopyRule, the_copy_runs_at_the_speed_of_pinned_memory) {
  const CopyInfo copy{100 * kMegabyte, MemorySpace::kPageable, MemorySpace::kDevice};
  const std::vector<Finding> findings = findings_of(training(copy, 10 * kMillisecond, true), "pageable_copy");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 - 100.0 / 50, 0.05);
  EXPECT_EQ(findings[0].fix.id, "pin_memory");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 5, "step"}));
  EXPECT_EQ(findings[0].explanation,
            "95.4 MiB per step reaches the GPU at 10 GB/s while the host waits; from pinned memory it would be about "
            "50 GB/s, and the host would not wait.");
}

TEST(PageableCopyRule, the_host_no_longer_waits) {
  const CopyInfo copy{50 * kMegabyte, MemorySpace::kPageable, MemorySpace::kDevice};
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "GPU", {}, 9, 0});
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.copy("aten::copy_", copy, 10 * kMillisecond, true);
    program.run(Kind::kOperator, "aten::think", 5 * kMillisecond);
    program.kernel("aten::mm", 1 * kMillisecond);
    program.wait();
  }
  // 16 ms; the copy then takes 1 of the 5 ms in which the host prepares the kernel.
  const std::vector<Finding> findings = findings_of(program.build(), "pageable_copy");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10, 0.05);
}

// Images and their labels, one copy after the other, while the device still computes on the batch before.
Trace copying_labels(bool computes_between) {
  const CopyInfo images{50 * kMegabyte, MemorySpace::kPageable, MemorySpace::kDevice};
  const CopyInfo labels{1'000, MemorySpace::kPageable, MemorySpace::kDevice};
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "GPU", {}, 9, 0});
  program.kernel("aten::mm", 6 * kMillisecond);
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.copy("aten::copy_", images, 10 * kMillisecond, true);
    if (computes_between) program.kernel("aten::_to_copy", 10 * kMicrosecond);
    program.copy("aten::copy_", labels, 1 * kMicrosecond, true);
    program.run(Kind::kOperator, "aten::think", 5 * kMillisecond);
    program.kernel("aten::mm", 6 * kMillisecond);
  }
  return program.build();
}

// 21 ms of 10, 5 and 6, as the copy waits for the kernel of the step before. Pinned, the host runs ahead, and the
// device has 1 and 6 ms to do.
TEST(PageableCopyRule, whoever_pins_a_batch_pins_its_small_tensors_too) {
  const Trace trace = copying_labels(false);
  const std::vector<Finding> findings = findings_of(trace, "pageable_copy");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 21 - 7, 0.05);
  for (const EventId copy : findings[0].evidence) EXPECT_EQ(trace.copies.find(copy)->bytes, 50 * kMegabyte);
}

// The small copy may be of something else, and still waits for the 1 ms of the large one and for the kernel.
TEST(PageableCopyRule, a_small_copy_elsewhere_still_waits) {
  const std::vector<Finding> findings = findings_of(copying_labels(true), "pageable_copy");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 - 1, 0.1);
}

TEST(PageableCopyRule, is_silent_about_pinned_memory_and_about_copies_back) {
  EXPECT_TRUE(findings_of(training({100 * kMegabyte, MemorySpace::kPinned, MemorySpace::kDevice}, kMillisecond, true),
                          "pageable_copy")
                  .empty());
  EXPECT_TRUE(findings_of(training({100 * kMegabyte, MemorySpace::kDevice, MemorySpace::kPageable}, kMillisecond, true),
                          "pageable_copy")
                  .empty());
}

TEST(PageableCopyRule, is_silent_about_small_copies_and_about_those_as_fast_as_pinned_ones) {
  EXPECT_TRUE(findings_of(training({100'000, MemorySpace::kPageable, MemorySpace::kDevice}, kMillisecond, true),
                          "pageable_copy")
                  .empty());
  EXPECT_TRUE(findings_of(training({500 * kMegabyte, MemorySpace::kPageable, MemorySpace::kDevice}, kMillisecond, true),
                          "pageable_copy")
                  .empty());
}

// Where calls were not recorded, the operator stands for them: the copy is faster, and the host does what it did.
TEST(PageableCopyRule, a_copy_without_a_call_does_no_harm) {
  ProgramSketch program;
  program.begin_step();
  const auto op = program.run(Kind::kOperator, "aten::copy_", 100 * kMicrosecond);
  program.sketch().set_copy(program.sketch().work(program.stream(), Kind::kMemcpy, "Memcpy HtoD", program.now(),
                                                  program.now() + 10 * kMillisecond, op),
                            {100 * kMegabyte, MemorySpace::kPageable, MemorySpace::kDevice});
  EXPECT_TRUE(findings_of(program.build(), "pageable_copy").empty());
}

const RuleSample kOneCopyPerStep("pageable_copy", "one copy per step", [] {
  return training({100 * kMegabyte, MemorySpace::kPageable, MemorySpace::kDevice}, 10 * kMillisecond, true);
});

}  // namespace
}  // namespace telltale
