#include "analysis/host_timeline.h"

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

std::vector<HostSegment> timeline_of(const Trace& trace, const std::vector<TrackId>& threads, Interval window) {
  const std::vector<HostWork> host_work = host_work_by_event(trace);
  HostTimeline timeline(trace, threads, window, host_work);
  std::vector<HostSegment> segments;
  while (timeline.next()) segments.push_back(timeline.segment());
  return segments;
}

// The oracle for one instant: 2 in an operator or a call, 1 in anything else that is open, 0 in nothing.
int activity(const Trace& trace, EventId event) {
  if (event == kNoEvent) return 0;
  const HostWork work = host_work_by_event(trace)[event];
  return work == HostWork::kPython || work == HostWork::kUnknown ? 1 : 2;
}

EventId shown_at(const Trace& trace, const std::vector<TrackId>& threads, Nanoseconds time) {
  EventId shown = kNoEvent;
  for (const TrackId thread : threads) {
    const EventId innermost = innermost_at(trace, thread, time);
    if (activity(trace, innermost) > activity(trace, shown)) shown = innermost;
  }
  return shown;
}

TEST(HostTimeline, shows_at_each_instant_the_first_thread_of_those_that_work_most) {
  std::mt19937 random(5);
  for (int round = 0; round < 150; ++round) {
    TraceSketch sketch;
    std::vector<TrackId> threads;
    for (int i = 0; i < round % 4; ++i) {
      threads.push_back(sketch.thread("thread"));
      add_random_calls(sketch, threads.back(), 6, kHorizon, random);
    }
    std::ranges::reverse(threads);
    const Trace trace = sketch.build();
    const Interval window = random_window(kHorizon, random);
    Nanoseconds at = window.begin;
    EventId before = kNoEvent;
    for (const HostSegment& segment : timeline_of(trace, threads, window)) {
      ASSERT_EQ(segment.when.begin, at) << "no gap, no overlap";
      ASSERT_GT(segment.when.length(), 0);
      ASSERT_TRUE(at == window.begin || segment.event != before) << "neighbors differ";
      for (; at < segment.when.end; ++at)
        ASSERT_EQ(segment.event, shown_at(trace, threads, at)) << "round " << round << " at " << at;
      before = segment.event;
    }
    ASSERT_EQ(at, window.end);
  }
}

TEST(HostTimeline, follows_the_backward_pass_to_its_thread) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), autograd = sketch.thread("autograd");
  const auto forward = sketch.op(main, "aten::mm", 0, 20);
  const auto waiting = sketch.event(main, Kind::kPython, "backward", 20, 60);
  const auto backward = sketch.op(autograd, "MmBackward0", 30, 50);
  const Trace trace = sketch.build();
  EXPECT_EQ(timeline_of(trace, {main, autograd}, {0, 60}), (std::vector<HostSegment>{{{0, 20}, sketch.id(forward)},
                                                                                     {{20, 30}, sketch.id(waiting)},
                                                                                     {{30, 50}, sketch.id(backward)},
                                                                                     {{50, 60}, sketch.id(waiting)}}));
}

struct Launches {
  TraceSketch sketch;
  TrackId stream = sketch.stream(0, 7);
  void launch(TrackId thread, Nanoseconds at) {
    const auto call = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", at, at + 1);
    sketch.work(stream, Kind::kKernel, "kernel", at + 2, at + 3, call);
  }
};

TEST(LaunchingThreads, come_by_the_number_of_their_launches_within_the_window) {
  Launches drawn;
  const TrackId one = drawn.sketch.thread("one"), two = drawn.sketch.thread("two"), none = drawn.sketch.thread("none");
  drawn.launch(one, 10);
  for (const Nanoseconds at : {20, 30, 100}) drawn.launch(two, at);
  for (const Nanoseconds at : {101, 110, 120}) drawn.launch(one, at);
  drawn.sketch.op(none, "aten::add", 0, 200);
  const Trace trace = drawn.sketch.build();
  EXPECT_EQ(launching_threads(trace, {0, 101}), (std::vector<TrackId>{two, one}));
  EXPECT_EQ(launching_threads(trace, {0, 300}), (std::vector<TrackId>{one, two}));
  EXPECT_EQ(launching_threads(trace, {101, 300}), (std::vector<TrackId>{one}));
}

TEST(LaunchingThreads, are_the_thread_with_the_most_events_where_nothing_is_launched) {
  TraceSketch sketch;
  const TrackId one = sketch.thread("one"), two = sketch.thread("two");
  const TrackId stream = sketch.stream(0, 7);
  sketch.op(one, "aten::add", 0, 5);
  sketch.op(two, "aten::add", 0, 5);
  sketch.op(two, "aten::add", 6, 7);
  for (const Nanoseconds at : {1, 3, 5}) sketch.event(stream, Kind::kKernel, "launched before", at, at + 1);
  EXPECT_EQ(launching_threads(sketch.build(), {0, 100}), (std::vector<TrackId>{two}));
  EXPECT_TRUE(launching_threads(TraceSketch().build(), {0, 100}).empty());
}

TEST(IndependentLanes, part_threads_that_work_at_the_same_time_and_join_those_that_hand_over) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), autograd = sketch.thread("autograd"), other = sketch.thread("other");
  sketch.op(main, "forward", 0, 50);
  sketch.event(main, Kind::kPython, "backward", 50, 100);  // waits in Python: no work of its own
  sketch.op(autograd, "backward", 40, 100);                // 10 of 50 at the same time
  sketch.op(other, "forward", 0, 100);
  const Trace trace = sketch.build();
  const std::vector<HostWork> host_work = host_work_by_event(trace);
  EXPECT_EQ(independent_lanes(trace, {main, autograd, other}, {0, 100}, host_work),
            (std::vector<std::vector<TrackId>>{{main, autograd}, {other}}));
}

TEST(IndependentLanes, part_threads_by_the_work_of_the_lesser_one) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), few = sketch.thread("few");
  sketch.op(main, "aten::mm", 0, 1000);
  sketch.op(few, "aten::add", 990, 1015);  // 10 of 25: more than three tenths
  const Trace trace = sketch.build();
  const std::vector<HostWork> host_work = host_work_by_event(trace);
  EXPECT_EQ(independent_lanes(trace, {main, few}, {0, 1020}, host_work).size(), 2);
  EXPECT_EQ(independent_lanes(trace, {main, few}, {1000, 1020}, host_work).size(), 1);  // only one works there
}

}  // namespace

}  // namespace telltale
