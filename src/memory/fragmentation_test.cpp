// States drawn by hand, with each kind of waste worked out beside it.
#include "memory/fragmentation.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::uint64_t kBase = std::uint64_t{1} << 30;

AllocatorEvent entry(AllocatorAction action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream = 0,
                     StringId stack = 0) {
  return {.address = address, .bytes = bytes, .stream = stream, .call_stack = stack, .action = action};
}

struct Log {
  Trace trace;
  void segment(std::uint64_t at, std::int64_t bytes, std::uint64_t stream = 0) {
    trace.allocator_events.push_back(entry(AllocatorAction::kSegmentAllocate, at, bytes, stream));
  }
  void allocate(std::uint64_t at, std::int64_t bytes, std::string_view line = "", std::uint64_t stream = 0) {
    trace.allocator_events.push_back(entry(AllocatorAction::kAllocate, at, bytes, stream, trace.strings.intern(line)));
  }
  void free(std::uint64_t at) {
    trace.allocator_events.push_back(entry(AllocatorAction::kFreeRequested, at, 0));
    trace.allocator_events.push_back(entry(AllocatorAction::kFreeCompleted, at, 0));
  }
};

TEST(Fragmentation, tells_pinned_space_from_idle_segments_of_this_and_other_streams) {
  Log log;
  // 40 MiB: [8 free][4 live][8 free][20 live]
  log.segment(kBase, 40 * kMiB);
  log.allocate(kBase, 8 * kMiB);
  log.allocate(kBase + 8 * kMiB, 4 * kMiB, "cache.py(3): keep");
  log.allocate(kBase + 12 * kMiB, 8 * kMiB);
  log.allocate(kBase + 20 * kMiB, 20 * kMiB, "model.py(9): forward");
  log.free(kBase);
  log.free(kBase + 12 * kMiB);
  // Idle: 12 MiB of the same stream, 30 MiB of another.
  log.segment(2 * kBase, 12 * kMiB);
  log.allocate(2 * kBase, 12 * kMiB);
  log.free(2 * kBase);
  log.segment(3 * kBase, 30 * kMiB, 5);
  log.allocate(3 * kBase, 30 * kMiB, "", 5);
  log.free(3 * kBase);
  // The request at the peak: 49.5 MiB of 50, and the block has the rest.
  log.segment(4 * kBase, 50 * kMiB);
  log.allocate(4 * kBase, 50 * kMiB - kMiB / 2);

  const Fragmentation found = fragmentation_at_peak(log.trace, 0);
  EXPECT_EQ(found.entry, log.trace.allocator_events.size() - 1);
  EXPECT_EQ(found.totals.reserved, (40 + 12 + 30 + 50) * kMiB);
  EXPECT_EQ(found.hard_bytes, 16 * kMiB);
  EXPECT_EQ(found.soft_bytes, 12 * kMiB);
  EXPECT_EQ(found.stream_bytes, 30 * kMiB);
  EXPECT_EQ(found.rounding_bytes, kMiB / 2);
  EXPECT_EQ(found.hard_bytes + found.soft_bytes + found.stream_bytes + found.rounding_bytes + found.totals.requested,
            found.totals.reserved);
  // The 4 MiB pin all 8 before them and half of the 8 behind; the 20 MiB the other half.
  ASSERT_EQ(found.lines.size(), 2u);
  EXPECT_EQ(found.lines[0].source, (SourceLine{"cache.py", 3, "keep"}));
  EXPECT_EQ(found.lines[0].pinned_bytes, 12 * kMiB);
  EXPECT_EQ(found.lines[0].bytes, 4 * kMiB);
  EXPECT_EQ(found.lines[1].pinned_bytes, 4 * kMiB);
  ASSERT_EQ(found.pinning.size(), 2u);
  EXPECT_EQ(found.pinning[0].address, kBase + 8 * kMiB);
}

TEST(Fragmentation, counts_whole_free_pages_of_expandable_segments_as_not_pinned) {
  Log log;
  for (std::uint64_t page = 0; page < 4; ++page)
    log.trace.allocator_events.push_back(entry(AllocatorAction::kSegmentMap, kBase + page * 20 * (1 << 20), 20 * kMiB));
  log.allocate(kBase, 10 * kMiB);
  log.allocate(kBase + 10 * kMiB, 60 * kMiB);
  log.allocate(kBase + 70 * kMiB, 10 * kMiB);
  log.free(kBase + 10 * kMiB);
  const Fragmentation found = fragmentation_at(log.trace, 0, 1000);
  // 10 to 70 MiB are free: pages 20 to 60 could go, 10 + 10 MiB cannot.
  EXPECT_EQ(found.soft_bytes, 40 * kMiB);
  EXPECT_EQ(found.hard_bytes, 20 * kMiB);
  EXPECT_EQ(found.stream_bytes, 0);
}

TEST(Fragmentation, finds_the_setting_that_helps) {
  // Blocks that grow: each is too large for the segments before it.
  Log log;
  std::uint64_t at = kBase;
  for (std::int64_t size = 20; size <= 60; size += 4) {
    log.segment(at, size * kMiB);
    log.allocate(at, size * kMiB);
    log.free(at);
    at += static_cast<std::uint64_t>(size * kMiB);
  }
  // 20 + 24 + … + 60 = 440 MiB; one segment that grows needs 60.
  const AllocatorRequests requests = allocator_requests(log.trace, 0);
  EXPECT_EQ(check_simulation(log.trace, requests).simulated_peak_reserved, 440 * kMiB);
  const std::vector<SettingEffect> effects = settings_that_help(log.trace, requests);
  ASSERT_FALSE(effects.empty());
  EXPECT_EQ(effects[0].change, "expandable_segments:True");
  EXPECT_EQ(effects[0].peak_reserved, 60 * kMiB);
  EXPECT_EQ(effects[0].saving_bytes, 380 * kMiB);
}

TEST(Fragmentation, of_nothing_is_nothing) {
  const Trace trace;
  const Fragmentation found = fragmentation_at_peak(trace, 0);
  EXPECT_EQ(found.totals, AllocatorTotals{});
  EXPECT_TRUE(found.pinning.empty());
  EXPECT_TRUE(settings_that_help(trace, allocator_requests(trace, 0)).empty());
}

}  // namespace
}  // namespace telltale
