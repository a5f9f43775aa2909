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

// Each of six steps makes 24 MiB more, first of all, that stay until the program ends. What five of them left behind
// is no activation that waits; that of the newest has left by 3.1 ms, and so the four of 24 MiB leave one copy later,
// by 5.2, 7.3, 9.4 and 11.5 ms, and are made at 3, 5, 7 and 9: two of them stand there at 9 ms.
TEST(OffloadActivationsRule, leaves_out_what_leaks) {
  MemorySketch sketch(0);
  constexpr std::uint64_t kBlocksOfStep = 6;
  for (int step = 0; step < 6; ++step) {
    sketch.begin_step();
    sketch.leave("aten::mul", 24 * kMebi, "train.py(7): step");
    for (int layer = 0; layer < 4; ++layer) sketch.keep("aten::mm", 24 * kMebi);
    sketch.program().run(Kind::kOperator, "aten::mm", 20 * kMillisecond);
    sketch.make("aten::mm", 8 * kMebi);
    sketch.end_of_forward();
    sketch.backward();
    sketch.optimize();
  }
  ProgramSketch& program = sketch.program();
  program.close();  // the last step
  program.spend(100 * kMillisecond);
  for (std::uint64_t step = 0; step < 6; ++step)
    program.sketch().allocate(program.thread(), program.now(), -24 * kMebi, 0, kBlocksOfStep * step + 1);
  const std::vector<Finding> findings = found(sketch.build());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (24 + 4 * 24 + 8 - 2 * 24) * kMebi);
}

TEST(OffloadActivationsRule, is_silent_about_the_host_and_about_small_blocks) {
  EXPECT_TRUE(found(program(20 * kMillisecond, 24 * kMebi, kHost)).empty());
  EXPECT_TRUE(found(program(20 * kMillisecond, kMebi / 2)).empty());
}

}  // namespace
}  // namespace telltale
