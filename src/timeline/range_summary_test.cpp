#include "timeline/range_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analysis/testing/random_calls.h"

namespace telltale {
namespace {

// The oracle: all events are looked at, and busy times found instant by instant.
struct Slowly {
  const Trace& trace;
  Interval range;

  Interval clip(EventId event) const {
    return {std::max(trace.events.start[event], range.begin), std::min(trace.events.end(event), range.end)};
  }
  bool reaches_in(EventId event) const {
    const Nanoseconds start = trace.events.start[event];
    return (start >= range.begin && start < range.end) ||
           (start < range.begin && trace.events.end(event) > range.begin);
  }
  Nanoseconds busy(const Track& track) const {
    Nanoseconds busy = 0;
    for (Nanoseconds at = range.begin; at < range.end; ++at)
      for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event)
        if (trace.events.start[event] <= at && at < trace.events.end(event)) {
          ++busy;
          break;
        }
    return busy;
  }
  // By name, of the kinds for which `counts` holds: without the parts of all direct children.
  std::map<StringId, Nanoseconds> self(auto counts) const {
    std::map<StringId, Nanoseconds> times;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (!reaches_in(event)) continue;
      if (counts(trace.events.kind[event])) times[trace.events.name[event]] += clip(event).length();
      const EventId parent = trace.events.parent[event];
      if (parent != kNoEvent && counts(trace.events.kind[parent]))
        times[trace.events.name[parent]] -= clip(event).length();
    }
    for (auto& [name, time] : times) time = std::max<Nanoseconds>(0, time);
    return times;
  }
};

std::map<StringId, Nanoseconds> by_name(const std::vector<NamedTime>& times) {
  std::map<StringId, Nanoseconds> names;
  for (const NamedTime& time : times) names[time.name] = time.time;
  EXPECT_TRUE(std::ranges::is_sorted(times, std::ranges::greater{}, &NamedTime::time));
  return names;
}

TEST(RangeSummary, agrees_with_a_look_at_every_event_and_instant) {
  std::mt19937 random(41);
  for (int round = 0; round < 40; ++round) {
    TraceSketch sketch;
    const TrackId stream = sketch.stream(0, 7);
    for (const char* name : {"a", "b"})
      for (const auto call : add_random_calls(sketch, sketch.thread(name), 50, 300, random))
        if (random() % 4 == 0) {
          const auto start = static_cast<Nanoseconds>(random() % 300);
          sketch.work(stream, Kind::kKernel, random() % 2 == 0 ? "k" : "l", start, start + 7, call);
        }
    const auto trace = std::make_shared<const Trace>(sketch.build());
    const Timeline timeline(trace, 1);
    for (int each = 0; each < 8; ++each) {
      const Interval range = random_window(trace->duration, random);
      const Slowly slowly{*trace, range};
      const RangeSummary summary = range_summary(timeline, range, {}, 1000);
      std::size_t events = 0;
      for (EventId event = 0; event < trace->events.size(); ++event) events += slowly.reaches_in(event);
      EXPECT_EQ(summary.events, events);
      for (const RangeSummary::Thread& thread : summary.threads)
        EXPECT_EQ(thread.busy, slowly.busy(trace->tracks[thread.track]));
      ASSERT_EQ(summary.devices.size(), 1U);
      EXPECT_EQ(summary.devices[0].busy, slowly.busy(trace->tracks[stream]));
      EXPECT_EQ(summary.devices[0].idle, range.length() - summary.devices[0].busy);
      EXPECT_EQ(by_name(summary.operators), slowly.self([](Kind kind) { return kind == Kind::kOperator; }));
      EXPECT_EQ(by_name(summary.kernels), slowly.self(is_device_work));
      EXPECT_EQ(by_name(summary.python),
                slowly.self([](Kind kind) { return kind == Kind::kPython || kind == Kind::kModule; }));
    }
  }
}

TEST(RangeSummary, can_be_about_some_tracks) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), other = sketch.thread("other"), stream = sketch.stream(0, 7);
  sketch.op(main, "aten::mm", 0, 10);
  const auto add = sketch.op(other, "aten::add", 5, 25);
  sketch.event(stream, Kind::kKernel, "k", 20, 30);
  const Timeline timeline(std::make_shared<const Trace>(sketch.build()), 1);
  const RangeSummary summary = range_summary(timeline, {8, 20}, std::vector{other});
  EXPECT_EQ(summary.events, 1U);
  EXPECT_TRUE(summary.devices.empty());
  ASSERT_EQ(summary.operators.size(), 1U);
  EXPECT_EQ(summary.operators[0].time, 12);
  EXPECT_EQ(summary.operators[0].calls, 1U);
  EXPECT_EQ(summary.operators[0].example, sketch.id(add));
}

TEST(RangeSummary, lists_the_longest_names_only) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  for (Nanoseconds i = 0; i < 30; ++i) sketch.op(main, "op " + std::to_string(i), i * 100, i * 100 + i + 1);
  const auto trace = std::make_shared<const Trace>(sketch.build());
  const RangeSummary summary = range_summary(Timeline(trace, 1), {0, 3000}, {});
  ASSERT_EQ(summary.operators.size(), 20U);
  EXPECT_EQ(trace->strings[summary.operators[0].name], "op 29");
  EXPECT_EQ(summary.operators[19].time, 11);
}

TEST(RangeSummary, has_no_device_on_which_nothing_runs) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7), other = sketch.stream(1, 7);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 0, 2);
  sketch.event(stream, Kind::kDeviceAnnotation, "forward", 10, 50);
  sketch.work(other, Kind::kKernel, "gemm", 20, 30, launch);
  const Timeline timeline(std::make_shared<const Trace>(sketch.build()), 1);
  const RangeSummary summary = range_summary(timeline, {0, 60}, {});
  ASSERT_EQ(summary.devices.size(), 1U);
  EXPECT_EQ(summary.devices[0].device, 1);
  EXPECT_EQ(summary.devices[0].busy, 10);
  EXPECT_EQ(std::ranges::count(timeline.tracks(), ShownTrackKind::kGaps, &ShownTrack::kind), 1);
}

}  // namespace
}  // namespace telltale
