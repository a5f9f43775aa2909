#include "answers/view_memory_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/testing/trace_sketch.h"
#include "answers/drawn_segments.h"
#include "answers/testing/view_of.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

// Steps that each leave a block behind.
Trace leaking_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds time = 1000 * step;
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), time, time + 1000);
    sketch.event(thread, Kind::kPython, "train.py(31): step", time + 5, time + 900);
    sketch.op(thread, "aten::add", time + 10, time + 100);
    sketch.allocate(thread, time + 20, 4096, 0, 100u + static_cast<std::uint64_t>(step));
    sketch.allocate(thread, time + 30, 1 << 20, 0, 1);
    sketch.allocate(thread, time + 40, -(1 << 20), 0, 1);
  }
  return sketch.build();
}

TEST(ViewMemoryReport, is_what_telltale_memory_says_member_by_member) {
  const auto view = view_of(leaking_trace());
  const auto answer = view_memory_report(*view, {});
  ASSERT_TRUE(answer);
  const auto said = held_memory({.source = {.path = view->path, .trace = view->trace}});
  ASSERT_TRUE(said);
  const json page = json::parse(answer->json()), alone = json::parse(said->json());
  EXPECT_EQ(page["memory"], alone);
  ASSERT_EQ(page["leaks"].size(), alone["leaks"].size());
  ASSERT_EQ(page["leaks"].size(), 1u);
  EXPECT_EQ(page["memory"]["leaks"][0]["bytes_per_step"], 4096);
  EXPECT_NE(page["leaks"][0].get<std::string>().find("train.py:31"), std::string::npos);
  EXPECT_EQ(page["findings"].size(), alone["findings"].size());
  EXPECT_EQ(page["devices"][0]["device"], 0);
}

TEST(ViewMemoryReport, says_who_keeps_the_largest_tensors) {
  const auto keepers_where = [](std::string_view referrers) {
    TraceSketch sketch;
    const TrackId thread = sketch.thread("main");
    sketch.op(thread, "aten::empty", 10, 100);
    sketch.allocate(thread, 20, 8 << 20, 0, 7);
    Trace trace = sketch.build();
    trace.metadata.push_back({"referrers", std::string(referrers)});
    const json page = json::parse(view_memory_report(*view_of(std::move(trace)), {})->json());
    return page["devices"][0]["keepers"].get<std::string>();
  };
  EXPECT_EQ(keepers_where("[]"), "");
  EXPECT_EQ(
      keepers_where(R"json([{"address": 7, "chain": ["Tensor [4]", "list of 2", "variable 'kept' of main"]}])json"),
      "Of the largest, 1 is kept alive by variable 'kept' of main → list of 2.");
}

TEST(ViewMemoryReport, is_worked_out_once) {
  const auto view = view_of(leaking_trace());
  EXPECT_EQ(view_memory_report(*view, {})->held, view_memory_report(*view, {})->held);
  EXPECT_EQ(*held_memory_of(*view), view_memory_report(*view, {})->held);
}

TEST(ViewMemoryReport, of_a_trace_without_memory_says_what_to_record) {
  const auto answer = view_memory_report(*view_of(TraceSketch().build()), {});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("telltale record --memory"), std::string::npos);
}

// A segment of a large block, a thousand small ones in turn used and free, and a large free one.
TEST(DrawnSegments, small_blocks_stand_together_and_no_byte_is_lost) {
  MappedSegment segment{.address = 0x1000, .used = 0};
  const auto add = [&](std::int64_t bytes, bool is_used) {
    segment.blocks.push_back({.offset = segment.bytes,
                              .bytes = bytes,
                              .use = is_used ? std::optional(MemoryUse::kActivations) : std::nullopt,
                              .state = is_used ? BlockState::kAllocated : BlockState::kInactive});
    segment.bytes += bytes;
    segment.used += is_used ? bytes : 0;
  };
  add(10'000'000, true);
  for (int i = 0; i < 1000; ++i) add(512, i % 2 == 0);
  add(5'000'000, false);
  const Trace trace = TraceSketch().build();
  const DrawnSegments drawn = drawn_segments(trace, {}, {segment});
  ASSERT_EQ(drawn.segments.size(), 1u);
  const DrawnSegment& row = drawn.segments.front();
  EXPECT_EQ(row.address, "0x1000");
  EXPECT_EQ(row.part_bytes, (std::vector<std::int64_t>{10'000'000, 512'000, 5'000'000}));
  EXPECT_EQ(row.part_used, (std::vector<std::int64_t>{10'000'000, 256'000, 0}));
  EXPECT_EQ(row.part_blocks, (std::vector<std::int64_t>{1, 1000, 1}));
  EXPECT_EQ(row.part_state, (std::vector<std::uint8_t>{1, 3, 0}));
  EXPECT_EQ(row.part_maker, (std::vector<std::int32_t>{-1, -1, -1}));
}

TEST(DrawnSegments, the_smallest_of_very_many_are_counted) {
  std::vector<MappedSegment> segments;
  for (int i = 1; i <= 1000; ++i)
    segments.push_back(
        {.address = static_cast<std::uint64_t>(i) << 32, .bytes = i, .blocks = {{.offset = 0, .bytes = i}}});
  const Trace trace = TraceSketch().build();
  const DrawnSegments drawn = drawn_segments(trace, {}, segments);
  ASSERT_EQ(drawn.segments.size(), 200u);
  EXPECT_EQ(drawn.segments.front().bytes, 1000);
  EXPECT_EQ(drawn.segments.back().bytes, 801);
  EXPECT_EQ(drawn.left_out, 800u);
  EXPECT_EQ(drawn.left_out_bytes, 800 * 801 / 2);
}

}  // namespace
}  // namespace telltale::answers
