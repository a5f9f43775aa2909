#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

// 1,024 tokens, 16,384 words: 32 MiB in bfloat16, 64 MiB in float32; and 40 MiB of the layers before.
constexpr std::int64_t kLogits = std::int64_t{1024} * 16384 * 2;

Trace program(std::string_view loss, std::int64_t layers = 40 * kMebi, int steps = 2, bool leaks = false) {
  MemorySketch sketch;
  for (int step = 0; step < steps; ++step) {
    sketch.begin_step();
    if (leaks) sketch.leave("aten::mm", 2 * kLogits, "train.py(7): step");
    sketch.keep("aten::mm", layers);
    sketch.keep("aten::mm", kLogits);
    sketch.keep("aten::_to_copy", 2 * kLogits);
    sketch.keep(loss, 2 * kLogits);
    sketch.backward();
    sketch.optimize();
  }
  return sketch.build();
}

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "whole_logits"; });
  return findings;
}

TEST(WholeLogitsRule, leaves_one_piece_of_eight_of_the_logits_and_their_copies) {
  const std::vector<Finding> findings = found(program("aten::_log_softmax"));
  ASSERT_EQ(findings.size(), 1);
  const std::int64_t all = kLogits + 2 * kLogits + 2 * kLogits;
  EXPECT_EQ(findings[0].saving_bytes, all * 7 / 8);
  EXPECT_EQ(findings[0].fix.id, "chunk");
}

TEST(WholeLogitsRule, leaves_out_logits_that_earlier_steps_left_behind) {
  const std::vector<Finding> findings = found(program("aten::_log_softmax", 40 * kMebi, 6, true));
  ASSERT_EQ(findings.size(), 1);
  // What the newest step made at the leaking line is still its own.
  const std::int64_t of_step = kLogits + 2 * kLogits + 2 * kLogits + 2 * kLogits;
  EXPECT_EQ(findings[0].saving_bytes, of_step * 7 / 8);
}

TEST(WholeLogitsRule, is_silent_without_a_loss_over_words_and_where_it_is_small) {
  EXPECT_TRUE(found(program("aten::mse_loss")).empty());
  // 160 MiB of logits, of which 140 would go: less than a twentieth of 4,096 + 160.
  EXPECT_TRUE(found(program("aten::_log_softmax", 4096 * kMebi)).empty());
}

}  // namespace
}  // namespace telltale
