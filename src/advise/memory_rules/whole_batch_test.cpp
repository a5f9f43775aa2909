#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "whole_batch"; });
  return findings;
}

// Three steps that keep 80 MiB, make 20 MiB on the way, and have gradients.
Trace program(std::int64_t gradients, std::int64_t temporaries_of_optimizer = 0, std::int64_t leak = 0) {
  MemorySketch sketch;
  for (int step = 0; step < 6; ++step) {
    sketch.begin_step();
    if (leak > 0) sketch.leave("aten::mul", leak, "train.py(7): step");
    sketch.keep("aten::mm", 80 * kMebi);
    sketch.make("aten::gelu", 20 * kMebi);
    sketch.end_of_forward();
    sketch.backward(gradients);
    sketch.optimize(0, temporaries_of_optimizer);
  }
  return sketch.build();
}

TEST(WholeBatchRule, halves_what_is_kept_and_what_is_made_on_the_way) {
  const std::vector<Finding> findings = found(program(0));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (80 + 20) * kMebi / 2);
}

// 100 MiB at once. With two halves 50 beside the 16 of the first; those of the second come when 10 are freed.
TEST(WholeBatchRule, counts_the_gradients_of_the_first_half_during_the_second) {
  const std::vector<Finding> findings = found(program(16 * kMebi));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (100 - 50 - 16) * kMebi);
}

// In the optimizer's step, 90 MiB beside the 8 of the gradients do not shrink with the batch: 2 of 100 is too little.
TEST(WholeBatchRule, is_silent_where_the_peak_only_moves) {
  EXPECT_TRUE(found(program(8 * kMebi, 90 * kMebi)).empty());
}

TEST(WholeBatchRule, leaves_out_what_leaks) {
  const std::vector<Finding> findings = found(program(0, 0, 40 * kMebi));
  ASSERT_EQ(findings.size(), 1);
  // What the newest step made at the leaking line is still its own, and not what it leaves behind.
  EXPECT_EQ(findings[0].saving_bytes, (80 + 20 + 40) * kMebi / 2);
}

}  // namespace
}  // namespace telltale
