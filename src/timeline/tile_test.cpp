#include "timeline/tile.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>

#include "analysis/breakdown.h"
#include "analysis/testing/program_sketch.h"
#include "analysis/testing/random_calls.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

std::vector<TrackId> all_tracks(const Timeline& timeline) {
  std::vector<TrackId> tracks;
  for (const ShownTrack& track : timeline.tracks()) tracks.push_back(track.id);
  return tracks;
}

std::shared_ptr<const Trace> random_trace(std::mt19937& random) {
  TraceSketch sketch;
  const TrackId stream = sketch.stream(0, 7);
  for (const char* name : {"a", "b"}) {
    const auto calls = add_random_calls(sketch, sketch.thread(name), 60, 4000, random);
    for (const auto call : calls)
      if (random() % 4 == 0) {
        const auto start = static_cast<Nanoseconds>(random() % 4000);
        sketch.work(stream, Kind::kKernel, "k", start, start + static_cast<Nanoseconds>(random() % 90), call);
      }
  }
  return std::make_shared<const Trace>(sketch.build());
}

TEST(Tiles, all_tiles_of_full_detail_are_the_events) {
  std::mt19937 random(31);
  for (int round = 0; round < 20; ++round) {
    const auto trace = random_trace(random);
    const Timeline timeline(trace, 2);
    std::set<EventId> alone;
    std::size_t marks = 0;
    std::set<std::pair<EventId, TrackId>> seen;
    for (std::int64_t tile = 0; tile < 8; ++tile) {
      for (const TileSpan& span : tile_spans(timeline, {0, tile}, all_tracks(timeline))) {
        if (span.cause || !seen.emplace(span.event, span.track).second) continue;
        EXPECT_EQ(trace->events.start[span.event], span.duration > 0 ? span.start : trace->events.start[span.event]);
        if (span.duration == 0) {
          marks += span.events;
          continue;
        }
        EXPECT_EQ(trace->events.duration[span.event], span.duration);
        EXPECT_EQ(timeline.lanes().lane_of(span.event), span.lane);
        EXPECT_EQ(span.busy, 1);
        alone.insert(span.event);
      }
    }
    std::set<EventId> expected;
    std::size_t expected_marks = 0;
    for (EventId event = 0; event < trace->events.size(); ++event)
      if (trace->events.duration[event] > 0)
        expected.insert(event);
      else
        ++expected_marks;
    EXPECT_EQ(alone, expected);
    EXPECT_EQ(marks, expected_marks);
  }
}

TEST(Tiles, no_wide_event_is_missing_at_any_level) {
  std::mt19937 random(32);
  const auto trace = random_trace(random);
  const Timeline timeline(trace, 1);
  for (unsigned level = 0; level < 13; ++level) {
    std::set<EventId> alone;
    std::size_t events = 0;
    for (const TileSpan& span : tile_spans(timeline, {level, 0}, all_tracks(timeline))) {
      if (span.cause) continue;
      events += span.events;
      if (span.events == 1) alone.insert(span.event);
    }
    for (EventId event = 0; event < trace->events.size(); ++event) {
      const bool is_in_tile = trace->events.start[event] < Nanoseconds{1024} << level;
      if (is_in_tile && trace->events.duration[event] >= Nanoseconds{1} << level) {
        EXPECT_TRUE(alone.contains(event)) << "level " << level;
      }
    }
    if (level >= 3) {
      EXPECT_EQ(events, trace->events.size()) << "a tile of all events counts them all";
    }
  }
}

// The breakdown is about one device and the steps' window; the timeline about all time.
TEST(Tiles, idle_times_within_the_steps_are_those_of_the_breakdown) {
  ProgramSketch program;
  program.spend(700 * kMicrosecond);
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "load.py(1): load", 90 * kMicrosecond);
    for (int i = 0; i < 5; ++i) program.kernel("aten::mm", (10 + 7 * i) * kMicrosecond);
    program.wait();
    program.run(Kind::kOperator, "aten::add", 30 * kMicrosecond);
    program.kernel("aten::relu", 20 * kMicrosecond);
  }
  const auto trace = std::make_shared<const Trace>(program.build());
  const Timeline timeline(trace, 1);
  const StepTiming timing = step_timing(*trace);
  const StepBreakdown breakdown = step_breakdown(*trace, timing, host_work_by_event(*trace));
  std::array<Nanoseconds, kHostWorkCount> expected{};
  for (const IdleGap& gap : breakdown.gaps) expected[static_cast<std::size_t>(gap.cause)] += gap.when.length();
  EXPECT_EQ(timeline.idle_times().by_cause(breakdown.device, timing.window), expected);

  // Over the whole trace, idle is what no kernel covers.
  std::vector<Interval> work;
  for (EventId event = 0; event < trace->events.size(); ++event)
    if (is_device_work(trace->events.kind[event]))
      work.push_back({trace->events.start[event], trace->events.end(event)});
  Nanoseconds idle = 0;
  for (const Nanoseconds each : timeline.idle_times().by_cause(breakdown.device, {0, trace->duration})) idle += each;
  EXPECT_EQ(idle, trace->duration - total_length(united(work)));
}

TEST(Tiles, nobody_knows_why_a_device_idles_while_the_recorder_pauses) {
  ProgramSketch program;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "train.py(1): think", 100 * kMicrosecond);
    program.kernel("aten::mm", 10 * kMicrosecond);
    program.wait();
    if (step == 2) program.run(Kind::kAnnotation, std::string(kUnrecordedStep), 5 * kMillisecond);
  }
  const auto trace = std::make_shared<const Trace>(program.build());
  const std::vector<Interval> paused = pauses(*trace);
  ASSERT_EQ(paused.size(), 1u);
  const Timeline timeline(trace, 1);
  const auto causes = timeline.idle_times().by_cause(0, paused[0]);
  EXPECT_EQ(causes[static_cast<std::size_t>(HostWork::kUnknown)], paused[0].length());
  EXPECT_GE(paused[0].length(), 5 * kMillisecond);
  const auto all = timeline.idle_times().by_cause(0, {0, trace->duration});
  EXPECT_LT(all[static_cast<std::size_t>(HostWork::kPython)], kMillisecond);
}

TEST(Tiles, idle_times_are_a_track_of_their_device) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(3, 7);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 40, 50);
  sketch.work(stream, Kind::kKernel, "k", 60, 100, launch);
  const Timeline timeline(std::make_shared<const Trace>(sketch.build()), 1);
  const auto& gaps = timeline.tracks().front();
  ASSERT_EQ(gaps.kind, ShownTrackKind::kGaps);
  EXPECT_EQ(gaps.device, 3);
  const std::vector<TileSpan> spans = tile_spans(timeline, {0, 0}, std::vector{gaps.id});
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].start, 0);
  EXPECT_EQ(spans[0].duration, 40);
  EXPECT_EQ(spans[0].cause, HostWork::kUnknown);
  EXPECT_EQ(spans[0].event, kNoEvent);
  EXPECT_EQ(spans[1].duration, 20);
  EXPECT_EQ(spans[1].cause, HostWork::kLaunching);
  EXPECT_EQ(spans[1].event, sketch.id(launch));
}

// At every zoom, whatever is drawn together.
TEST(Tiles, every_cause_of_idle_time_is_drawn_for_as_long_as_it_lasts) {
  std::mt19937 random(34);
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  Nanoseconds at = 0;
  const std::array<std::pair<Kind, const char*>, 3> kHost = {
      {{Kind::kRuntime, "cudaLaunchKernel"}, {Kind::kPython, "train.py(1): f"}, {Kind::kOperator, "aten::add"}}};
  for (int i = 0; i < 700; ++i) {
    const auto gap = static_cast<Nanoseconds>(1 + random() % (i % 50 == 0 ? 9000 : 60));
    const auto& [kind, name] = kHost[random() % kHost.size()];
    const auto host = sketch.event(thread, kind, name, at, at + gap);
    sketch.work(stream, Kind::kKernel, "k", at + gap, at + gap + 40, host);
    at += gap + 40;
  }
  const auto trace = std::make_shared<const Trace>(sketch.build());
  const Timeline timeline(trace, 1);
  const TrackId gaps = timeline.tracks().front().id;
  const auto expected = timeline.idle_times().by_cause(0, {0, trace->duration});
  for (unsigned level = 8; level < 24; ++level) {  // from here on one tile holds all
    std::array<double, kHostWorkCount> drawn{};
    std::size_t together = 0;
    for (const TileSpan& span : tile_spans(timeline, {level, 0}, std::vector{gaps})) {
      ASSERT_LE(span.busy, 1);
      drawn[static_cast<std::size_t>(*span.cause)] += span.busy * static_cast<double>(span.duration);
      together += span.events > 1;
    }
    for (std::size_t cause = 0; cause < drawn.size(); ++cause)
      EXPECT_NEAR(drawn[cause], static_cast<double>(expected[cause]), 1e-4 * static_cast<double>(trace->duration))
          << "level " << level << ", " << name_of(static_cast<HostWork>(cause));
    EXPECT_GT(together, 0U) << "level " << level;
  }
}

TEST(Tiles, an_empty_trace_has_no_tracks_and_no_spans) {
  const Timeline timeline(std::make_shared<const Trace>(), 1);
  EXPECT_TRUE(timeline.tracks().empty());
  EXPECT_TRUE(tile_spans(timeline, {10, 0}, std::vector<TrackId>{0, 1, UINT32_MAX}).empty());
  EXPECT_EQ(timeline.steps().source, StepSource::kWhole);
}

TEST(Tiles, ten_thousand_tracks_are_all_drawn) {
  TraceSketch sketch;
  Trace& trace = sketch.trace();
  for (TrackId track = 0; track < 10'000; ++track) {
    trace.tracks.push_back({.first_event = track, .event_count = 1});
    trace.events.start.push_back(track);
    trace.events.duration.push_back(5);
    trace.events.name.push_back(kEmptyString);
    trace.events.kind.push_back(Kind::kOther);
    trace.events.track.push_back(track);
    trace.events.parent.push_back(kNoEvent);
    trace.events.cause.push_back(kNoEvent);
  }
  const Timeline timeline(std::make_shared<const Trace>(std::move(trace)), 2);
  EXPECT_EQ(timeline.tracks().size(), 10'000U);
  EXPECT_EQ(tile_spans(timeline, {4, 0}, all_tracks(timeline)).size(), 10'000U);
}

TEST(Tiles, places_beyond_all_time_are_not_valid) {
  EXPECT_TRUE((TilePlace{0, 0}).is_valid());
  EXPECT_TRUE((TilePlace{50, 3}).is_valid());
  EXPECT_FALSE((TilePlace{50, 4}).is_valid());
  EXPECT_FALSE((TilePlace{51, 0}).is_valid());
  EXPECT_FALSE((TilePlace{0, -1}).is_valid());
  EXPECT_FALSE((TilePlace{0, INT64_MAX}).is_valid());
}

TEST(Tiles, several_threads_may_ask_at_once) {
  std::mt19937 random(33);
  const auto trace = random_trace(random);
  const Timeline timeline(trace, 2);
  const std::vector<TrackId> tracks = all_tracks(timeline);
  const auto spans = [&] {
    return tile_spans(timeline, {2, 0}, tracks).size() + timeline.links().effects_of(0).size();
  };
  std::vector<std::size_t> counts(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < counts.size(); ++i) threads.emplace_back([&, i] { counts[i] = spans(); });
  }
  for (const std::size_t count : counts) EXPECT_EQ(count, spans());
}

}  // namespace
}  // namespace telltale
