#include "analysis/host_segments.h"

#include <gtest/gtest.h>

#include "analysis/testing/random_calls.h"

namespace telltale {
namespace {

constexpr Nanoseconds kHorizon = 80;

// The oracle: of all events open at an instant, the one that comes last.
EventId innermost_at(const Trace& trace, TrackId thread, Nanoseconds time) {
  EventId innermost = kNoEvent;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.track[event] == thread && trace.events.start[event] <= time && time < trace.events.end(event))
      innermost = event;
  return innermost;
}

TEST(HostSegments, say_for_each_instant_which_event_is_the_innermost) {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    TraceSketch sketch;
    const TrackId main = sketch.thread("main"), other = sketch.thread("other");
    add_random_calls(sketch, main, round % 12, kHorizon, random);
    add_random_calls(sketch, other, 3, kHorizon, random);
    const Trace trace = sketch.build();
    const Interval window = random_window(kHorizon, random);
    Nanoseconds at = window.begin;
    EventId before = kNoEvent;
    for (const HostSegment& segment : host_segments(trace, main, window)) {
      ASSERT_EQ(segment.when.begin, at) << "no gap, no overlap";
      ASSERT_GT(segment.when.length(), 0);
      ASSERT_TRUE(at == window.begin || segment.event != before) << "neighbors differ";
      for (; at < segment.when.end; ++at)
        ASSERT_EQ(segment.event, innermost_at(trace, main, at)) << "round " << round << " at " << at;
      before = segment.event;
    }
    ASSERT_EQ(at, window.end);
  }
}

TEST(HostSegments, a_call_goes_on_behind_what_it_calls) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto outer = sketch.op(main, "outer", 10, 50);
  const auto inner = sketch.op(main, "inner", 20, 30);
  const Trace trace = sketch.build();
  EXPECT_EQ(host_segments(trace, main, {0, 60}), (std::vector<HostSegment>{{{0, 10}, kNoEvent},
                                                                           {{10, 20}, sketch.id(outer)},
                                                                           {{20, 30}, sketch.id(inner)},
                                                                           {{30, 50}, sketch.id(outer)},
                                                                           {{50, 60}, kNoEvent}}));
}

TEST(HostSegments, an_event_without_a_duration_cuts_nothing) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto call = sketch.op(main, "call", 0, 50);
  sketch.op(main, "mark", 20, 20);
  const Trace trace = sketch.build();
  EXPECT_EQ(host_segments(trace, main, {0, 50}), (std::vector<HostSegment>{{{0, 50}, sketch.id(call)}}));
}

TEST(HostSegments, a_thread_without_events_is_one_segment_and_an_empty_window_none) {
  TraceSketch sketch;
  const TrackId idle = sketch.thread("idle");
  const Trace trace = sketch.build();
  EXPECT_EQ(host_segments(trace, idle, {5, 9}), (std::vector<HostSegment>{{{5, 9}, kNoEvent}}));
  EXPECT_TRUE(host_segments(trace, idle, {5, 5}).empty());
}

}  // namespace
}  // namespace telltale
