// Logs of the allocator drawn by hand; what each setting would hold is worked out beside them.
#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

constexpr std::uint64_t kApart = std::uint64_t{1} << 32;

// One block after the other, each in a segment of its own; all but the last are freed.
Trace program(const std::vector<std::int64_t>& mebibytes, std::int64_t larger_segment = 0) {
  ProgramSketch sketch;
  Trace& trace = sketch.sketch().trace();
  const auto log = [&](AllocatorAction action, std::uint64_t address, std::int64_t bytes) {
    trace.allocator_events.push_back({.time = sketch.now(), .address = address, .bytes = bytes, .action = action});
  };
  sketch.begin_step();
  for (std::size_t i = 0; i < mebibytes.size(); ++i) {
    const std::int64_t bytes = mebibytes[i] * kMebi;
    const std::uint64_t address = (i + 1) * kApart;
    sketch.open(Kind::kOperator, "aten::mm");
    sketch.spend(kMillisecond);
    log(AllocatorAction::kSegmentAllocate, address, bytes + larger_segment);
    log(AllocatorAction::kAllocate, address, bytes);
    sketch.sketch().allocate(sketch.thread(), sketch.now(), bytes, 0, address);
    sketch.spend(kMillisecond);
    if (i + 1 < mebibytes.size()) {
      log(AllocatorAction::kFreeRequested, address, bytes);
      log(AllocatorAction::kFreeCompleted, address, bytes);
      sketch.sketch().allocate(sketch.thread(), sketch.now(), -bytes, 0, address);
    }
    sketch.spend(kMillisecond);
    sketch.close();
  }
  return sketch.build();
}

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "allocator_settings"; });
  return findings;
}

TEST(AllocatorSettingsRule, replays_the_requests_with_segments_that_grow) {
  // 30 + 40 + 50 MiB are reserved. One segment that grows by pages of 20 MiB has 40, 40 and 60.
  const std::vector<Finding> findings = found(program({30, 40, 50}));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (30 + 40 + 50 - 60) * kMebi);
  EXPECT_EQ(findings[0].fix.id, "expandable_segments");
  EXPECT_EQ(findings[0].fix.code, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
}

TEST(AllocatorSettingsRule, is_silent_where_all_that_is_reserved_is_used) { EXPECT_TRUE(found(program({60})).empty()); }

TEST(AllocatorSettingsRule, is_silent_where_the_simulation_misses_what_was_recorded) {
  // Segments that no rule of the allocator explains: 12 MiB more than asked for.
  EXPECT_TRUE(found(program({30, 40, 50}, 12 * kMebi)).empty());
}

}  // namespace
}  // namespace telltale
