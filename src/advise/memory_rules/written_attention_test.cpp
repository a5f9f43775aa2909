#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

// Two layers of attention: 8 heads, 1,024 positions, 2 bytes: 16 MiB of scores each, as a product and as a softmax;
// beside them a product of 6 MiB and one of another purpose that has the size of the scores.
constexpr std::int64_t kScores = std::int64_t{8} * 1024 * 1024 * 2;

Trace program(std::string_view softmax) {
  MemorySketch sketch;
  for (int step = 0; step < 2; ++step) {
    sketch.begin_step();
    for (int layer = 0; layer < 2; ++layer) {
      sketch.keep("aten::bmm", kScores);
      sketch.keep(softmax, kScores);
      sketch.keep("aten::bmm", 6 * kMebi);
    }
    sketch.keep("aten::gelu", kScores);
    sketch.backward();
    sketch.optimize();
  }
  return sketch.build();
}

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "written_attention"; });
  return findings;
}

TEST(WrittenAttentionRule, frees_what_softmax_made_and_what_has_its_size_around_it) {
  const std::vector<Finding> findings = found(program("aten::_softmax"));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, 2 * (kScores + kScores));  // neither the 6 MiB nor what gelu made
  EXPECT_EQ(findings[0].fix.id, "sdpa");
}

// Six steps keep a list of what softmax made. What the newest of them made is still its own, the other five are a
// leak's.
TEST(WrittenAttentionRule, leaves_out_scores_that_leak) {
  MemorySketch sketch;
  for (int step = 0; step < 6; ++step) {
    sketch.begin_step();
    sketch.keep("aten::bmm", kScores);
    sketch.leave("aten::_softmax", kScores, "train.py(7): step");
    sketch.backward();
    sketch.optimize();
  }
  const std::vector<Finding> findings = found(sketch.build());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, 2 * kScores);
}

TEST(WrittenAttentionRule, is_silent_about_the_softmax_of_a_loss_and_without_one) {
  EXPECT_TRUE(found(program("aten::_log_softmax")).empty());
  EXPECT_TRUE(found(program("aten::mul")).empty());
}

}  // namespace
}  // namespace telltale
