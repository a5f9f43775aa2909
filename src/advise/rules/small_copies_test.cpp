#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr CopyInfo kSmall = {4'096, MemorySpace::kPinned, MemorySpace::kDevice};
constexpr CopyInfo kLarge = {100'000, MemorySpace::kPinned, MemorySpace::kDevice};
constexpr CopyInfo kNumber = {4, MemorySpace::kDevice, MemorySpace::kPinned};
constexpr int kCopies = 21;

// Three steps of 21 copies, each of which takes the host 100 µs, and of 5 ms of other work on the host.
Trace training(CopyInfo info, std::string_view op, int launches_between, Nanoseconds computing) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(5): step");
    for (int i = 0; i < kCopies; ++i) {
      program.open(Kind::kOperator, "aten::to");
      program.spend(95 * kMicrosecond);
      program.copy(op, info, 1 * kMicrosecond, false);
      program.close();
      for (int k = 0; k < launches_between; ++k) program.kernel("aten::relu", 1 * kMicrosecond);
    }
    program.run(Kind::kOperator, "aten::think", 5 * kMillisecond);
    program.kernel("aten::mm", computing);
    program.wait();
  }
  return program.build();
}

TEST(SmallCopiesRule, all_calls_but_one_are_spared_and_each_tensor_is_packed) {
  const std::vector<Finding> findings =
      findings_of(training(kSmall, "aten::copy_", 0, 10 * kMicrosecond), "small_copies");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * (0.100 - 0.005), 0.06);
  EXPECT_EQ(findings[0].fix.id, "pack_copies");
  EXPECT_EQ(findings[0].title, "21 small copies per step, one at a time");
  EXPECT_NE(findings[0].explanation.find("4.00 KiB"), std::string::npos);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 5, "step"}));
}

TEST(SmallCopiesRule, a_kernel_or_two_between_copies_do_not_part_them) {
  EXPECT_EQ(findings_of(training(kSmall, "aten::copy_", 2, kMicrosecond), "small_copies").size(), 1);
  EXPECT_TRUE(findings_of(training(kSmall, "aten::copy_", 3, kMicrosecond), "small_copies").empty());
}

TEST(SmallCopiesRule, is_silent_about_large_copies_and_about_single_numbers) {
  EXPECT_TRUE(findings_of(training(kLarge, "aten::copy_", 0, kMicrosecond), "small_copies").empty());
  EXPECT_TRUE(findings_of(training(kNumber, "aten::_local_scalar_dense", 0, kMicrosecond), "small_copies").empty());
}

TEST(SmallCopiesRule, is_silent_when_the_device_is_busy_with_something_else_meanwhile) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < kCopies; ++i) program.copy("aten::copy_", kSmall, kMicrosecond, false);
    program.kernel("aten::mm", 20 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "small_copies").empty());
}

TEST(SmallCopiesRule, is_silent_about_few_copies) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (int i = 0; i < 10; ++i) program.copy("aten::copy_", kSmall, kMicrosecond, true);
  }
  EXPECT_TRUE(findings_of(program.build(), "small_copies").empty());
}

TEST(SmallCopiesRule, is_silent_where_nothing_is_known_of_their_calls) {
  ProgramSketch program;
  program.begin_step();
  for (int i = 0; i < kCopies; ++i) {
    const auto op = program.run(Kind::kOperator, "aten::copy_", 100 * kMicrosecond);
    program.sketch().set_copy(program.sketch().work(program.stream(), Kind::kMemcpy, "Memcpy HtoD", program.now(),
                                                    program.now() + kMicrosecond, op),
                              kSmall);
  }
  EXPECT_TRUE(findings_of(program.build(), "small_copies").empty());
}

const RuleSample k21CopiesPerStep("small_copies", "21 copies per step",
                                  [] { return training(kSmall, "aten::copy_", 0, 10 * kMicrosecond); });

}  // namespace
}  // namespace telltale
