#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

// Four operators of 2 ms make 24 MiB each for the backward pass; then the head takes its time. At 12 GB/s 24 MiB take
// 2.1 ms.
Trace program(Nanoseconds head, std::int64_t bytes = 24 * kMebi, DeviceId device = 0) {
  MemorySketch sketch(device);
  for (int step = 0; step < 2; ++step) {
    sketch.begin_step();
    for (int layer = 0; layer < 4; ++layer) sketch.keep("aten::mm", bytes);
    sketch.program().run(Kind::kOperator, "aten::mm", head);
    sketch.make("aten::mm", 8 * kMebi);  // the peak
    sketch.end_of_forward();
    sketch.backward();
    sketch.optimize();
  }
  return sketch.build();
}

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "offload_activations"; });
  return findings;
}

TEST(OffloadActivationsRule, promises_how_much_lower_the_peak_is) {
  // Made at 1, 3, 5 and 7 ms, they have left by 3.1, 5.2, 7.3 and 9.4 ms. Needed at 32, 34, 36 and 38 ms, the last
  // first, they come back from 29.6, 31.7, 33.8 and 35.9 ms on. So two of them stand there at 7 ms and at 32 ms, and
  // none at 29 ms, when all four did beside the 8 MiB.
  const std::vector<Finding> findings = found(program(20 * kMillisecond));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (4 * 24 + 8 - 2 * 24) * kMebi);
  EXPECT_EQ(findings[0].fix.id, "offload");
  EXPECT_EQ(findings[0].cost, 0);
}

TEST(OffloadActivationsRule, leaves_out_what_has_not_left_before_it_is_needed) {
  // 30 times as large, 63 ms a copy: none is away before it is due.
  EXPECT_TRUE(found(program(20 * kMillisecond, 720 * kMebi)).empty());
}

TEST(OffloadActivationsRule, is_silent_about_the_host_and_about_small_blocks) {
  EXPECT_TRUE(found(program(20 * kMillisecond, 24 * kMebi, kHost)).empty());
  EXPECT_TRUE(found(program(20 * kMillisecond, kMebi / 2)).empty());
}

}  // namespace
}  // namespace telltale
