#include <gtest/gtest.h>

#include <algorithm>

#include "advise/memory_report.h"
#include "advise/testing/memory_sketch.h"
#include "analysis/testing/trace_sketch.h"
#include "memory/memory_what_if.h"

namespace telltale {
namespace {

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "unused_segments"; });
  return findings;
}

// An allocator's log, an entry a nanosecond. Sizes are in MiB.
struct LogSketch {
  TraceSketch sketch;
  TrackId thread = sketch.thread("log");
  Nanoseconds now = 0;

  void log(AllocatorAction action, std::uint64_t address, std::int64_t mebibytes, std::uint64_t stream = 0,
           std::string_view stack = {}) {
    Trace& trace = sketch.trace();
    trace.allocator_events.push_back({.time = ++now,
                                      .address = address,
                                      .bytes = mebibytes * kMebi,
                                      .stream = stream,
                                      .call_stack = trace.strings.intern(stack),
                                      .action = action});
    if (action == AllocatorAction::kAllocate) sketch.allocate(thread, now, mebibytes * kMebi, 0, address);
    if (action == AllocatorAction::kFreeCompleted) sketch.allocate(thread, now, -mebibytes * kMebi, 0, address);
  }
  void free(std::uint64_t address, std::int64_t mebibytes, std::uint64_t stream = 0) {
    log(AllocatorAction::kFreeRequested, address, mebibytes, stream);
    log(AllocatorAction::kFreeCompleted, address, mebibytes, stream);
  }
};

constexpr std::uint64_t kFar = std::uint64_t{1} << 32;

// 100 MiB on each of three streams, one after the other, each freed: 300, and on one stream 100.
TEST(UnusedSegmentsRule, names_the_line_that_makes_buffers_on_other_streams) {
  LogSketch log;
  for (std::uint64_t stream = 1; stream <= 3; ++stream) {
    const std::string_view line = stream == 3 ? "train.py(9): main" : "train.py(4): buffers";
    log.log(AllocatorAction::kSegmentAllocate, stream * kFar, 100, stream, line);
    log.log(AllocatorAction::kAllocate, stream * kFar, 100, stream, line);
    if (stream < 3) log.free(stream * kFar, 100, stream);
  }
  const Trace trace = log.sketch.build();
  const std::vector<Finding> findings = found(trace);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "one_stream");
  EXPECT_EQ(findings[0].saving_bytes, 200 * kMebi);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 4, "buffers"}));

  const MemoryReport report = memory_report(trace, {}, true);
  const auto finding = std::ranges::find(report.findings, "unused_segments", &Finding::rule);
  ASSERT_TRUE(finding != report.findings.end() && finding->memory_edit);
  const MemoryWhatIf without = memory_what_if(trace, 0, {.edit = *finding->memory_edit});
  EXPECT_EQ(without.before.peak_reserved, 300 * kMebi);
  EXPECT_EQ(without.low.peak_reserved, 100 * kMebi);
  EXPECT_EQ(without.high.peak_reserved, 100 * kMebi);
}

// 11 MiB stay in what 30 MiB left, so that the next 30 need a segment of their own: 60. Made first, they have one
// of 12.
TEST(UnusedSegmentsRule, names_the_line_of_blocks_that_stay_beside_free_ones) {
  LogSketch log;
  log.log(AllocatorAction::kSegmentAllocate, kFar, 30);
  log.log(AllocatorAction::kAllocate, kFar, 30, 0, "train.py(3): main");
  log.free(kFar, 30);
  log.log(AllocatorAction::kAllocate, kFar, 11, 0, "train.py(4): main");
  log.log(AllocatorAction::kSegmentAllocate, 2 * kFar, 30);
  log.log(AllocatorAction::kAllocate, 2 * kFar, 30, 0, "train.py(3): main");
  const std::vector<Finding> findings = found(log.sketch.build());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "allocate_first");
  EXPECT_EQ(findings[0].saving_bytes, (60 - 30 - 12) * kMebi);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 4, "main"}));
}

TEST(UnusedSegmentsRule, is_silent_where_all_is_in_use) {
  LogSketch log;
  for (std::uint64_t stream = 1; stream <= 3; ++stream) {
    log.log(AllocatorAction::kSegmentAllocate, stream * kFar, 100, stream);
    log.log(AllocatorAction::kAllocate, stream * kFar, 100, stream, "train.py(4): buffers");
  }
  EXPECT_TRUE(found(log.sketch.build()).empty());
}

}  // namespace
}  // namespace telltale
