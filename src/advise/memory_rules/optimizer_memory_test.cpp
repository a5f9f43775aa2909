#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kState = 80 * kMebi;

// Three steps: 20 MiB of activations, and from the first on the state.
Trace program(DeviceId device, std::int64_t state, std::optional<std::int64_t> ranks = {}) {
  MemorySketch sketch(device);
  for (int step = 0; step < 3; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 20 * kMebi);
    sketch.program().kernel("aten::mm", kMillisecond);
    sketch.backward();
    sketch.optimize(state);
  }
  Trace trace = sketch.build();
  if (ranks) {
    trace.distributed.emplace();
    trace.distributed->world_size = ranks;
  }
  return trace;
}

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "optimizer_memory"; });
  return findings;
}

TEST(OptimizerMemoryRule, keeps_a_quarter_and_the_scales_in_8_bits) {
  const std::vector<Finding> findings = found(program(0, kState));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "smaller_optimizer_state");
  // For each block of 256 numbers, 1,024 bytes become 256 and a scale of 4.
  EXPECT_EQ(findings[0].saving_bytes, kState / 1024 * (1024 - 256 - 4));
}

TEST(OptimizerMemoryRule, shards_among_the_ranks) {
  const std::vector<Finding> findings = found(program(0, kState, 4));
  const auto sharded =
      std::ranges::find_if(findings, [](const Finding& finding) { return finding.fix.id == "shard_optimizer"; });
  ASSERT_NE(sharded, findings.end());
  EXPECT_EQ(sharded->saving_bytes, kState * 3 / 4);
  // One rank has nobody to share with.
  EXPECT_EQ(found(program(0, kState, 1)).size(), 1);
}

// 20 MiB are kept; the step makes 60 MiB beside gradients of 10.
TEST(OptimizerMemoryRule, makes_no_temporaries_where_it_is_fused) {
  MemorySketch sketch;
  for (int step = 0; step < 3; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 20 * kMebi);
    sketch.backward(10 * kMebi);
    sketch.optimize(0, 60 * kMebi);
  }
  const std::vector<Finding> findings = found(sketch.build());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "fused_optimizer");
  EXPECT_EQ(findings[0].saving_bytes, (10 + 60 - 20) * kMebi);
}

TEST(OptimizerMemoryRule, is_silent_without_state_and_on_a_host_alone) {
  EXPECT_TRUE(found(program(0, 0)).empty());
  EXPECT_TRUE(found(program(kHost, kState)).empty());
}

}  // namespace
}  // namespace telltale
