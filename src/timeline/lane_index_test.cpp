#include "timeline/lane_index.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/testing/random_calls.h"
#include "trace/nesting.h"

namespace telltale {
namespace {

// The events of a lane neither overlap nor change places, each event has one lane, and calls stand below their callers.
void expect_sound(const Trace& trace, const LaneIndex& index) {
  const Events& events = trace.events;
  std::set<EventId> seen;
  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    for (std::size_t lane = 0; lane < index.lane_count(track); ++lane) {
      const LaneSpans spans = index.lane(track, lane);
      ASSERT_FALSE(spans.ids.empty());
      for (std::size_t i = 0; i < spans.size(); ++i) {
        const EventId event = spans.ids[i];
        EXPECT_TRUE(seen.insert(event).second);
        EXPECT_EQ(events.track[event], track);
        EXPECT_EQ(index.lane_of(event), lane);
        if (i > 0 && lane + 1 < kMostLanes) {
          EXPECT_LE(events.end(spans.ids[i - 1]), events.start[event]);
        }
        const EventId parent = events.parent[event];
        const bool is_called = parent != kNoEvent && events.duration[parent] > 0 && lane + 1 < kMostLanes;
        if (is_called) {
          EXPECT_GT(lane, index.lane_of(parent));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), events.size());
}

TEST(LaneIndex, calls_stand_below_their_callers) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto outer = sketch.op(thread, "outer", 0, 100);
  const auto twin = sketch.op(thread, "of equal start and end", 0, 100);
  const auto first = sketch.op(thread, "first", 10, 40);
  const auto touching = sketch.op(thread, "touching", 40, 60);
  const auto mark = sketch.event(thread, Kind::kInstant, "mark", 50, 50);
  const auto next = sketch.op(thread, "next", 100, 120);
  const Trace trace = sketch.build();
  const LaneIndex index(trace, 1);
  const auto lane = [&](TraceSketch::Handle event) { return index.lane_of(sketch.id(event)); };
  EXPECT_EQ(lane(outer), 0U);
  EXPECT_EQ(lane(twin), 1U);
  EXPECT_EQ(lane(first), 2U);
  EXPECT_EQ(lane(touching), 2U);
  EXPECT_EQ(lane(mark), 3U);
  EXPECT_EQ(lane(next), 0U);
  EXPECT_EQ(index.extent(thread).busy, 120);
}

TEST(LaneIndex, what_overlaps_stands_beside_with_its_own_calls) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto first = sketch.op(thread, "first", 0, 50);
  const auto second = sketch.op(thread, "second", 30, 80);
  const auto inside = sketch.op(thread, "inside both", 35, 45);
  const auto later = sketch.op(thread, "inside the second", 60, 70);
  const auto last = sketch.op(thread, "last", 80, 90);
  const Trace trace = sketch.build();
  const LaneIndex index(trace, 1);
  const auto lane = [&](TraceSketch::Handle event) { return index.lane_of(sketch.id(event)); };
  EXPECT_EQ(lane(first), 0U);
  EXPECT_EQ(lane(second), 1U);
  EXPECT_EQ(lane(inside), 2U);
  EXPECT_EQ(lane(later), 2U);
  EXPECT_EQ(lane(last), 0U);
  EXPECT_EQ(index.extent(thread).busy, 90);
}

TEST(LaneIndex, marks_at_one_instant_share_a_lane) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int i = 0; i < 50; ++i) sketch.event(thread, Kind::kInstant, "mark", 7, 7);
  const Trace trace = sketch.build();
  EXPECT_EQ(LaneIndex(trace, 1).lane_count(thread), 1U);
}

TEST(LaneIndex, random_calls_are_placed_soundly) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    TraceSketch sketch;
    for (const char* name : {"a", "b", "c"}) add_random_calls(sketch, sketch.thread(name), 80, 300, random);
    const Trace trace = sketch.build();
    expect_sound(trace, LaneIndex(trace, 2));
  }
}

// Many events at once, without the sketch's slow search for parents.
Trace nested_trace(std::vector<Interval> rows) {
  Trace trace;
  trace.tracks.push_back({.event_count = static_cast<EventId>(rows.size())});
  for (const Interval& row : rows) {
    trace.events.start.push_back(row.begin);
    trace.events.duration.push_back(row.length());
    trace.events.name.push_back(kEmptyString);
    trace.events.kind.push_back(Kind::kOperator);
    trace.events.track.push_back(0);
    trace.events.parent.push_back(kNoEvent);
    trace.events.cause.push_back(kNoEvent);
    trace.duration = std::max(trace.duration, row.end);
  }
  nest(trace.events, trace.tracks[0]);
  return trace;
}

TEST(LaneIndex, calls_deeper_than_the_last_lane_share_it) {
  constexpr Nanoseconds kDepth = 3000;
  std::vector<Interval> nested, overlapping;
  for (Nanoseconds i = 0; i < kDepth; ++i) nested.push_back({i, 10'000 - i});
  for (Nanoseconds i = 0; i < kDepth; ++i) overlapping.push_back({i, 10'000 + i});
  for (const auto& rows : {nested, overlapping}) {
    const Trace trace = nested_trace(rows);
    const LaneIndex index(trace, 1);
    EXPECT_EQ(index.lane_count(0), kMostLanes);
    EXPECT_EQ(index.lane(0, kMostLanes - 1).size(), kDepth - kMostLanes + 1);
    expect_sound(trace, index);
    std::size_t drawn = 0, events = 0;
    index.draw(0, kMostLanes - 1, 3, {0, 1 << 20}, [&](const DrawnSpan& span, EventId) {
      ++drawn;
      events += span.count;
    });
    EXPECT_EQ(events, kDepth - kMostLanes + 1);
    EXPECT_LE(drawn, 3U);
  }
}

TEST(LaneIndex, durations_of_years_are_drawn) {
  constexpr Nanoseconds kYears = Nanoseconds{1} << 60;
  const Trace trace = nested_trace({{0, kYears}, {1, 2}, {kYears - 1, kYears}});
  const LaneIndex index(trace, 1);
  std::vector<Nanoseconds> lengths;
  index.draw(0, 0, 50, {0, Nanoseconds{1} << 61},
             [&](const DrawnSpan& span, EventId) { lengths.push_back(span.end - span.start); });
  EXPECT_EQ(lengths, std::vector<Nanoseconds>{kYears});
}

TEST(LaneIndex, takes_few_bytes_an_event) {
  std::vector<Interval> rows;
  for (Nanoseconds i = 0; i < 100'000; ++i) rows.push_back({i * 10, i * 10 + 7});
  const Trace trace = nested_trace(std::move(rows));
  EXPECT_LT(LaneIndex(trace, 1).memory_bytes(), 7U * 100'000);
}

}  // namespace
}  // namespace telltale
