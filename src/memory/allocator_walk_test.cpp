// Against a model that keeps only segments and live blocks in plain lists and derives all else from them each time.
#include "memory/allocator_walk.h"

#include <gtest/gtest.h>

#include <random>

namespace telltale {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

AllocatorEvent entry(AllocatorAction action, std::uint64_t address, std::int64_t bytes) {
  return {.address = address, .bytes = bytes, .action = action};
}

struct Model {
  struct Range {
    std::uint64_t from, to;
    std::int64_t requested = 0;
    bool awaits_free = false, is_expandable = false, is_large = false;
  };
  std::vector<Range> segments, live;
  std::size_t contradictions = 0;

  static const Range* around(const std::vector<Range>& ranges, std::uint64_t address) {
    for (const Range& range : ranges)
      if (range.from <= address && address < range.to) return &range;
    return nullptr;
  }
  bool touches_any(const std::vector<Range>& ranges, std::uint64_t from, std::uint64_t to) const {
    for (const Range& range : ranges)
      if (range.from < to && from < range.to) return true;
    return false;
  }
  // Where the next live block, or the segment, ends the free space from that address on.
  std::uint64_t free_until(std::uint64_t address) const {
    std::uint64_t end = around(segments, address)->to;
    for (const Range& block : live)
      if (block.from >= address) end = std::min(end, block.from);
    return end;
  }

  void apply(const AllocatorEvent& event) {
    if (!applied(event)) ++contradictions;
  }
  bool applied(const AllocatorEvent& event) {
    const std::uint64_t from = event.address, to = from + static_cast<std::uint64_t>(event.bytes);
    switch (event.action) {
      case AllocatorAction::kAllocate: {
        const Range* segment = around(segments, from);
        if (event.bytes <= 0 || segment == nullptr || around(live, from) != nullptr) return false;
        const std::uint64_t room = free_until(from) - from;
        if (static_cast<std::uint64_t>(event.bytes) > room) return false;
        const std::uint64_t rounded = std::min((static_cast<std::uint64_t>(event.bytes) + 511) / 512 * 512, room);
        const std::uint64_t rest = room - rounded;
        const bool splits = segment->is_large && !segment->is_expandable ? rest > kMiB : rest >= 512;
        live.push_back({from, from + (splits ? rounded : room), event.bytes});
        return true;
      }
      case AllocatorAction::kFreeRequested:
        for (Range& block : live)
          if (block.from == from && !block.awaits_free) return block.awaits_free = true;
        return false;
      case AllocatorAction::kFreeCompleted:
        return std::erase_if(live, [&](const Range& block) { return block.from == from; }) > 0;
      case AllocatorAction::kSegmentAllocate:
      case AllocatorAction::kSegmentMap: {
        if (event.bytes <= 0 || touches_any(segments, from, to)) return false;
        Range added{from, to};
        added.is_expandable = event.action == AllocatorAction::kSegmentMap;
        added.is_large = event.bytes > static_cast<std::int64_t>(2 * kMiB);
        for (bool grows = added.is_expandable; grows;) {
          grows = false;
          for (std::size_t i = 0; i < segments.size(); ++i) {
            const Range other = segments[i];
            if (!other.is_expandable || other.is_large != added.is_large ||
                (other.to != added.from && added.to != other.from))
              continue;
            added.from = std::min(added.from, other.from);
            added.to = std::max(added.to, other.to);
            segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(i));
            grows = true;
            break;
          }
        }
        segments.push_back(added);
        return true;
      }
      case AllocatorAction::kSegmentFree:
      case AllocatorAction::kSegmentUnmap: {
        const Range* at = around(segments, from);
        if (event.bytes <= 0 || at == nullptr || to > at->to || touches_any(live, from, to)) return false;
        const Range whole = *at;
        if (!whole.is_expandable && (whole.from != from || whole.to != to)) return false;
        std::erase_if(segments, [&](const Range& segment) { return segment.from == whole.from; });
        for (const auto& [start, end] : {std::pair{whole.from, from}, std::pair{to, whole.to}}) {
          if (start == end) continue;
          Range rest = whole;
          rest.from = start;
          rest.to = end;
          segments.push_back(rest);
        }
        return true;
      }
      default:
        return true;
    }
  }

  AllocatorTotals totals() const {
    AllocatorTotals sum;
    for (const Range& block : live) {
      const auto bytes = static_cast<std::int64_t>(block.to - block.from);
      sum.active += bytes;
      sum.requested += block.requested;
      if (!block.awaits_free) sum.allocated += bytes;
    }
    for (const Range& segment : segments) sum.reserved += static_cast<std::int64_t>(segment.to - segment.from);
    return sum;
  }
};

// The blocks of each segment touch and fill it, and its live ones add up.
void expect_segments_are_filled(const AllocatorWalk& walk) {
  std::size_t seen = 0;
  for (const auto& [address, segment] : walk.segments()) {
    std::uint64_t at = segment.address;
    std::int64_t live = 0;
    bool was_free = false;
    while (at < segment.end()) {
      const WalkedBlock* block = walk.block_at(at);
      ASSERT_NE(block, nullptr);
      ASSERT_EQ(block->address, at);
      ASSERT_GT(block->bytes, 0);
      ASSERT_FALSE(was_free && !block->is_live()) << "free neighbors are one block";
      was_free = !block->is_live();
      if (block->is_live()) live += block->bytes;
      at = block->end();
      ++seen;
    }
    ASSERT_EQ(at, segment.end());
    ASSERT_EQ(live, segment.live);
  }
  ASSERT_EQ(seen, walk.blocks().size());
}

TEST(AllocatorWalk, agrees_with_plain_lists_on_random_logs_with_nonsense_in_them) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    Trace trace;
    Model model;
    std::vector<Model> after;
    for (int i = 0; i < 400; ++i) {
      AllocatorEvent event;
      event.action = kAllocatorActions[draw(7)];
      if (draw(2) == 0) event.action = AllocatorAction::kAllocate;
      event.address = (draw(60) + 1) * kMiB;  // any place, so that much of it makes no sense
      event.bytes = static_cast<std::int64_t>(draw(2) == 0 ? draw(5000) : draw(6 * kMiB));
      if (event.action == AllocatorAction::kAllocate && !model.segments.empty() && draw(4) != 0) {
        const Model::Range& segment = model.segments[draw(model.segments.size())];
        event.address = segment.from;
        for (std::size_t tries = draw(20); tries > 0; --tries)
          if (const Model::Range* block = Model::around(model.live, event.address); block != nullptr)
            event.address = block->to;
      } else if ((event.action == AllocatorAction::kFreeRequested || event.action == AllocatorAction::kFreeCompleted) &&
                 !model.live.empty() && draw(5) != 0) {
        event.address = model.live[draw(model.live.size())].from;
      } else if (event.action >= AllocatorAction::kSegmentAllocate) {
        event.bytes = static_cast<std::int64_t>((draw(3) == 0 ? 2 : draw(12)) * kMiB);
        if (event.action == AllocatorAction::kSegmentFree && !model.segments.empty()) {
          const Model::Range& segment = model.segments[draw(model.segments.size())];
          event.address = segment.from;
          event.bytes = static_cast<std::int64_t>(segment.to - segment.from);
        }
      }
      trace.allocator_events.push_back(event);
      model.apply(event);
      after.push_back(model);
    }
    AllocatorWalk walk(trace, 0);
    for (const Model& expected : after) {
      ASSERT_TRUE(walk.apply_next());
      ASSERT_EQ(walk.totals(), expected.totals()) << "seed " << seed << " entry " << walk.entry();
      ASSERT_EQ(walk.contradictions(), expected.contradictions) << "seed " << seed << " entry " << walk.entry();
      ASSERT_EQ(walk.segments().size(), expected.segments.size());
      for (const Model::Range& block : expected.live) {
        const WalkedBlock* found = walk.block_at(block.to - 1);
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(found->address, block.from);
        ASSERT_EQ(found->requested, block.requested);
        ASSERT_EQ(found->state, block.awaits_free ? BlockState::kAwaitingFree : BlockState::kAllocated);
      }
      expect_segments_are_filled(walk);
    }
    ASSERT_FALSE(walk.apply_next());
    ASSERT_GT(walk.totals().reserved, 0);
    ASSERT_LT(walk.contradictions(), after.size());
  }
}

TEST(AllocatorWalk, starts_from_what_the_allocator_held_and_goes_on) {
  Trace trace;
  const std::uint64_t base = 64 * kMiB;
  const StringId line = trace.strings.intern("train.py(3): step");
  trace.memory_segments.push_back({.address = base, .bytes = 20 << 20, .stream = 7, .is_large = 1});
  trace.memory_blocks.push_back(
      {.address = base, .bytes = 4 << 20, .requested = 4'000'000, .call_stack = line, .state = BlockState::kAllocated});
  trace.memory_blocks.push_back({.address = base + 4 * kMiB, .bytes = 16 << 20});
  AllocatorEvent made = entry(AllocatorAction::kAllocate, base + 4 * kMiB, 3'000'000);
  made.call_stack = line;
  trace.allocator_events = {made, entry(AllocatorAction::kFreeRequested, base, 4'000'000),
                            entry(AllocatorAction::kFreeCompleted, base, 4'000'000)};

  AllocatorWalk walk(trace, 0);
  EXPECT_EQ(walk.entry(), kNoAllocatorEntry);
  EXPECT_EQ(walk.totals(), (AllocatorTotals{4 << 20, 4 << 20, 4'000'000, 20 << 20}));
  ASSERT_TRUE(walk.apply_next());
  // 3,000,000 is 5859.4 times 512: 5860 × 512 = 3,000,320 bytes; more than 1 MiB is left of 16 MiB.
  EXPECT_EQ(walk.totals().allocated, (4 << 20) + 3'000'320);
  const WalkedBlock* block = walk.block_at(base + 4 * kMiB + 100);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->allocated_by, 0u);
  EXPECT_EQ(block->call_stack, line);
  EXPECT_EQ(walk.segment_at(base + 5 * kMiB)->stream, 7u);
  ASSERT_TRUE(walk.apply_next());
  EXPECT_EQ(walk.totals(), (AllocatorTotals{3'000'320, (4 << 20) + 3'000'320, 7'000'000, 20 << 20}));
  ASSERT_TRUE(walk.apply_next());
  EXPECT_EQ(walk.totals(), (AllocatorTotals{3'000'320, 3'000'320, 3'000'000, 20 << 20}));
  EXPECT_FALSE(walk.apply_next());
  EXPECT_EQ(walk.contradictions(), 0u);
  EXPECT_EQ(walk.block_at(base - 1), nullptr);
  EXPECT_EQ(walk.block_at(base + 20 * kMiB), nullptr);
}

TEST(AllocatorWalk, keeps_devices_apart) {
  Trace trace;
  trace.allocator_events = {entry(AllocatorAction::kSegmentAllocate, kMiB, 2 << 20),
                            entry(AllocatorAction::kSegmentAllocate, kMiB, 20 << 20)};
  trace.allocator_events[1].device = 3;
  EXPECT_EQ(allocator_devices(trace), (std::vector<DeviceId>{0, 3}));
  AllocatorWalk walk(trace, 3);
  EXPECT_TRUE(walk.apply_next());
  EXPECT_EQ(walk.entry(), 1u);
  EXPECT_FALSE(walk.apply_next());
  EXPECT_EQ(walk.totals().reserved, 20 << 20);
}

TEST(AllocatorWalk, survives_numbers_at_the_edges) {
  Trace trace;
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1} << 61, UINT64_MAX})
    for (const std::int64_t bytes : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 61, INT64_MAX})
      for (const AllocatorAction action : kAllocatorActions)
        trace.allocator_events.push_back(entry(action, address, bytes));
  trace.memory_segments = {{.address = UINT64_MAX - 5, .bytes = 100}, {.address = 0, .bytes = INT64_MIN}};
  trace.memory_blocks = {{.segment = 0, .address = 3, .bytes = 9, .state = BlockState::kAllocated},
                         {.segment = 77, .address = 3, .bytes = 9, .state = BlockState::kAllocated}};
  AllocatorWalk walk(trace, 0);
  EXPECT_EQ(walk.contradictions(), 3u);  // two segments, and a block outside of any
  while (walk.apply_next()) expect_segments_are_filled(walk);
}

TEST(AllocatorWalk, stops_at_a_row_of_another_device) {
  Trace trace;
  for (int row = 0; row < 5; ++row) {
    trace.allocator_events.push_back(
        entry(AllocatorAction::kSegmentAllocate, static_cast<std::uint64_t>(row + 1) * kMiB, 512));
    trace.allocator_events.back().device = row % 2;
  }
  for (std::size_t row = 0; row < 5; ++row) {
    AllocatorWalk walk(trace, 0);
    walk.apply_through(row);
    EXPECT_EQ(walk.segments().size(), row / 2 + 1) << row;
  }
  AllocatorWalk walk(trace, 1);
  walk.apply_through(0);
  EXPECT_TRUE(walk.segments().empty());
  EXPECT_EQ(walk.entry(), kNoAllocatorEntry);
}

}  // namespace
}  // namespace telltale
