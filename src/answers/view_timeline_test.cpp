// What is asked about the timeline of real traces, compared with what can be counted by looking at every event.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "analysis/breakdown.h"
#include "analysis/call_stacks.h"
#include "analysis/key_averages.h"
#include "answers/view_counters.h"
#include "answers/view_event.h"
#include "answers/view_range.h"
#include "answers/view_search.h"
#include "answers/view_tiles.h"
#include "answers/view_trace.h"

namespace telltale::answers {
namespace {

using ViewPtr = std::shared_ptr<const View>;

ViewPtr opened(const std::string& example) {
  auto view = open_view({.path = TELLTALE_SOURCE_DIR "/examples/traces/" + example});
  EXPECT_TRUE(view) << example;
  return view ? *view : nullptr;
}

constexpr const char* kExamples[] = {"small_train.json.gz", "resnet50_train.json.gz", "decode_cuda_graph.json.gz",
                                     "inference_server.tell"};

std::vector<TrackId> tracks_of(const View& view, bool has_gaps = false) {
  std::vector<TrackId> tracks;
  for (const ShownTrack& track : view.timeline->tracks())
    if (has_gaps || track.kind != ShownTrackKind::kGaps) tracks.push_back(track.id);
  return tracks;
}

// The level at which one tile shows all of a trace.
unsigned whole_level(const Trace& trace) {
  Nanoseconds last = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) last = std::max(last, trace.events.end(event));
  unsigned level = 0;
  while ((last >> (level + TilePlace::kBucketBits)) > 0) ++level;
  return level;
}

TEST(ViewTimeline, tiles_of_every_level_have_all_events_and_draw_wide_ones_alone) {
  for (const char* example : kExamples) {
    const ViewPtr view = opened(example);
    const Trace& trace = *view->trace;
    const unsigned whole = whole_level(trace);
    for (unsigned down = 0; down < 5; ++down) {
      const unsigned level = whole - down;
      std::set<EventId> alone;
      std::map<std::tuple<TrackId, std::uint16_t, Nanoseconds, EventId>, std::uint32_t> seen;
      for (std::int64_t tile = 0; tile < 1 << down; ++tile) {
        const auto answer = view_tiles(*view, {.level = level, .tile = tile, .tracks = tracks_of(*view)});
        ASSERT_TRUE(answer);
        for (const TileSpan& span : answer->spans) {
          seen[{span.track, span.lane, span.start, span.event}] = span.events;
          if (span.events == 1) alone.insert(span.event);
        }
      }
      std::size_t events = 0;
      for (const auto& [span, count] : seen) events += count;
      EXPECT_EQ(events, trace.events.size()) << example << " at level " << level;
      for (EventId event = 0; event < trace.events.size(); ++event) {
        if (trace.events.duration[event] >> level > 0) {
          EXPECT_TRUE(alone.contains(event)) << example << ": " << event;
        }
      }
    }
  }
}

template <typename Number>
std::vector<Number> column(const std::string& bytes, std::size_t& at, std::size_t count) {
  std::vector<Number> numbers(count);
  std::memcpy(numbers.data(), bytes.data() + at, count * sizeof(Number));
  at += count * sizeof(Number);
  at += (8 - at % 8) % 8;
  return numbers;
}

TEST(ViewTimeline, the_bytes_of_a_tile_are_columns_of_the_agreed_widths) {
  const ViewPtr view = opened("small_train.json.gz");
  const auto answer =
      view_tiles(*view, {.level = whole_level(*view->trace), .tile = 0, .tracks = tracks_of(*view, /*has_gaps=*/true)});
  const std::string bytes = answer->bytes();
  std::size_t at = 0;
  const auto head = column<std::uint32_t>(bytes, at, 4);
  EXPECT_EQ(bytes.substr(0, 4), "TTL1");
  const std::size_t spans = head[1];
  ASSERT_EQ(spans, answer->spans.size());
  const auto start = column<double>(bytes, at, spans), duration = column<double>(bytes, at, spans);
  const auto event = column<std::uint32_t>(bytes, at, spans), name = column<std::uint32_t>(bytes, at, spans);
  const auto events = column<std::uint32_t>(bytes, at, spans), track = column<std::uint32_t>(bytes, at, spans);
  const auto busy = column<float>(bytes, at, spans);
  const auto lane = column<std::uint16_t>(bytes, at, spans);
  const auto color = column<std::uint8_t>(bytes, at, spans);
  ASSERT_EQ(at + head[2], bytes.size());
  EXPECT_EQ(bytes[at], '[');
  EXPECT_EQ(bytes.back(), ']');
  for (std::size_t i = 0; i < spans; ++i) {
    const TileSpan& span = answer->spans[i];
    EXPECT_EQ(start[i], static_cast<double>(span.start));
    EXPECT_EQ(duration[i], static_cast<double>(span.duration));
    EXPECT_EQ(event[i], span.event);
    EXPECT_EQ(events[i], span.events);
    EXPECT_EQ(track[i], span.track);
    EXPECT_EQ(busy[i], span.busy);
    EXPECT_EQ(lane[i], span.lane);
    EXPECT_LT(color[i], view_colors().size());
    EXPECT_LT(name[i], answer->texts.size());
    if (!span.cause) {
      EXPECT_EQ(answer->texts[name[i]], shown_name(*view, span.event));
      EXPECT_EQ(color[i], color_of_event(*view, span.event));
    }
  }
}

TEST(ViewTimeline, tiles_that_no_time_has_are_refused_in_a_sentence) {
  const ViewPtr view = opened("small_train.json.gz");
  EXPECT_EQ(view_tiles(*view, {.level = 51}).error().message, "level is 51: it must be from 0 to 50");
  EXPECT_EQ(view_tiles(*view, {.level = -1}).error().message, "level is -1: it must be from 0 to 50");
  EXPECT_FALSE(view_tiles(*view, {.level = 0, .tile = INT64_MAX}));
  EXPECT_FALSE(view_counters(*view, {.level = 0, .tile = -1}));
  EXPECT_TRUE(view_tiles(*view, {.level = 3, .tile = 1 << 30, .tracks = {0, 99'999}})->spans.empty());
}

TEST(ViewTimeline, search_counts_what_a_look_at_every_name_counts) {
  const ViewPtr view = opened("resnet50_train.json.gz");
  const Trace& trace = *view->trace;
  for (const std::string text : {"CONV2D", "aten::", "cudaLaunchKernel", "<", "no such name"}) {
    std::set<EventId> expected;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      const auto found = [&](std::string_view name) {
        return std::ranges::search(
                   name, text, {}, [](char c) { return std::tolower(c); }, [](char c) { return std::tolower(c); })
                   .size() > 0;
      };
      if (found(trace.name(event)) || found(shown_name(*view, event))) expected.insert(event);
    }
    auto answer = view_search(*view, {.text = text});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count, expected.size()) << text;
    EXPECT_EQ(answer->event.has_value(), !expected.empty());
    // Going on visits each of them once, by start, and then begins again.
    std::set<EventId> visited;
    Nanoseconds last = INT64_MIN;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(answer->position, i);
      EXPECT_GE(answer->event->start_ns, last);
      last = answer->event->start_ns;
      visited.insert(answer->event->id);
      answer = view_search(*view, {.text = text, .from = answer->event->id});
    }
    EXPECT_EQ(visited, expected);
    if (!expected.empty()) {
      EXPECT_EQ(answer->position, 0U);
    }
  }
  EXPECT_EQ(view_search(*view, {.text = "aten::conv2d", .is_exact = true})->names.size(), 1U);
  EXPECT_EQ(view_search(*view, {.text = "ATEN::conv2d", .is_exact = true})->count, 0U);
  EXPECT_EQ(view_search(*view, {.text = ""})->count, 0U);
  EXPECT_EQ(view_search(*view, {.text = "a", .from = 1 << 30}).error().message,
            "there is no event 1073741824: the trace has 0 to 12153");
}

TEST(ViewTimeline, a_range_of_everything_has_the_kernels_of_key_averages) {
  for (const char* example : {"resnet50_train.json.gz", "small_train.json.gz"}) {
    const ViewPtr view = opened(example);
    KeyAveragesOptions options;
    options.kinds = {Kind::kKernel, Kind::kMemcpy, Kind::kMemset};
    std::map<std::string, Nanoseconds> expected;
    for (const KeyAverage& row : key_averages(*view->trace, options).rows)
      expected[row.name] += row.self_device_ns.value_or(0);
    const RangeSummary summary = range_summary(*view->timeline, {0, view->trace->duration}, {}, 10'000);
    std::map<std::string, Nanoseconds> found;
    for (const NamedTime& time : summary.kernels) found[std::string(view->trace->strings[time.name])] += time.time;
    EXPECT_EQ(found, expected) << example;
  }
}

TEST(ViewTimeline, idle_times_within_the_steps_are_those_of_the_breakdown) {
  for (const char* example : {"resnet50_train.json.gz", "small_train.json.gz", "decode_cuda_graph.json.gz"}) {
    const ViewPtr view = opened(example);
    const StepTiming timing = step_timing(*view->trace);
    const StepBreakdown breakdown = step_breakdown(*view->trace, timing, host_work_by_event(*view->trace));
    const auto answer = view_range(*view, {.start = timing.window.begin, .end = timing.window.end});
    ASSERT_EQ(answer->devices.size(), 1U) << example;
    std::map<ColorIndex, Nanoseconds> expected, found;
    for (const IdleGap& gap : breakdown.gaps) expected[color_index(gap.cause)] += gap.when.length();
    for (const RangeCause& cause : answer->devices[0].causes) found[cause.color] = cause.time;
    EXPECT_EQ(found, expected) << example;
    EXPECT_EQ(answer->devices[0].busy + answer->devices[0].idle, timing.window.length());
  }
}

TEST(ViewTimeline, every_event_has_its_stack_and_links_that_lead_back) {
  for (const char* example : {"small_train.json.gz", "decode_cuda_graph.json.gz"}) {
    const ViewPtr view = opened(example);
    const Trace& trace = *view->trace;
    CallStacks stacks(trace, 200);
    std::map<EventId, std::set<EventId>> causes, effects;
    std::set<EventId> cut;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      const auto answer = view_event(*view, {event});
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->stack, stacks.frames(stacks.of(event)));
      EXPECT_EQ(answer->full_name, trace.name(event));
      EXPECT_LT(answer->event.lane, view->timeline->track(answer->event.track)->lanes);
      EXPECT_LE(answer->self, trace.events.duration[event]);
      EXPECT_GE(answer->self, 0);
      if (answer->relations_left_out > 0) cut.insert(event);
      for (const ViewRelation& relation : answer->relations)
        (relation.link.is_cause ? causes : effects)[event].insert(relation.link.event);
    }
    for (const auto& [event, list] : causes)
      for (const EventId cause : list)
        EXPECT_TRUE(cut.contains(cause) || effects[cause].contains(event))
            << example << ": " << cause << " → " << event;
  }
}

TEST(ViewTimeline, an_empty_trace_has_answers_too) {
  const auto view = open_view({.path = "empty", .trace = std::make_shared<const Trace>()});
  ASSERT_TRUE(view);
  EXPECT_TRUE(view_trace(**view)->tracks.empty());
  EXPECT_EQ(view_tiles(**view, {.level = 10, .tile = 0, .tracks = {0}})->bytes().size(), 16U + 2U);
  EXPECT_EQ(view_event(**view, {0}).error().message, "there is no event 0: the trace has none");
  EXPECT_EQ(view_search(**view, {.text = "a"})->json(), R"({"count":0,"position":null,"event":null,"names":[]})");
  EXPECT_EQ(view_range(**view, {.start = 0, .end = 100})->events, 0U);
  EXPECT_EQ(view_range(**view, {.start = 3, .end = 1}).error().message,
            "the range ends at 1 ns, before it starts at 3 ns");
}

TEST(ViewTimeline, names_with_markup_and_of_ten_megabytes_are_shown_as_short_text) {
  auto trace = std::make_shared<Trace>();
  trace->processes.emplace_back();
  trace->tracks.push_back({.event_count = 2});
  const std::string markup = "<img src=x onerror=\"alert('é')\">\n", endless(10'000'000, 'k');
  for (const std::string& name : {markup, endless}) {
    trace->events.start.push_back(static_cast<Nanoseconds>(trace->events.size()) * 10);
    trace->events.duration.push_back(5);
    trace->events.name.push_back(trace->strings.intern(name));
    trace->events.kind.push_back(Kind::kKernel);
    trace->events.track.push_back(0);
    trace->events.parent.push_back(kNoEvent);
    trace->events.cause.push_back(kNoEvent);
  }
  const auto view = open_view({.path = "hostile", .trace = trace});
  ASSERT_TRUE(view);
  const auto tiles = view_tiles(**view, {.level = 0, .tile = 0, .tracks = {0}});
  ASSERT_EQ(tiles->texts.size(), 2U);
  EXPECT_LT(tiles->texts[1].size(), 1000U);
  EXPECT_NE(tiles->texts[0].find("<img"), std::string::npos) << "it stays text: the page never reads it as markup";
  EXPECT_LT(view_event(**view, {1})->json().size(), 300'000U);
  EXPECT_EQ(view_search(**view, {.text = "ONERROR"})->count, 1U);
}

TEST(ViewTimeline, a_mark_behind_all_else_lies_in_what_is_shown) {
  const ViewPtr view = opened("mlp_sync.json.gz");  // ends with torch's "Record Window End"
  const auto answer = view_trace(*view);
  Nanoseconds last = 0;
  for (const Nanoseconds start : view->trace->events.start) last = std::max(last, start);
  EXPECT_GT(last, view->trace->duration);
  EXPECT_EQ(answer->duration, last + 1);
}

TEST(ViewTimeline, a_process_without_a_name_that_stands_for_a_device_is_called_as_the_device) {
  auto trace = std::make_shared<Trace>();
  trace->devices = {{.id = 0, .name = "NVIDIA B200"}, {.id = 1}};
  trace->processes = {{.native_id = 40}, {}, {}};
  for (const DeviceId device : {kHost, 0, 1}) {
    const auto id = static_cast<TrackId>(trace->tracks.size());
    trace->tracks.push_back({.kind = device == kHost ? TrackKind::kThread : TrackKind::kStream,
                             .process = static_cast<ProcessId>(id),
                             .device = device,
                             .first_event = id,
                             .event_count = 1});
    trace->events.start.push_back(0);
    trace->events.duration.push_back(5);
    trace->events.name.push_back(kEmptyString);
    trace->events.kind.push_back(device == kHost ? Kind::kOther : Kind::kKernel);
    trace->events.track.push_back(id);
    trace->events.parent.push_back(kNoEvent);
    trace->events.cause.push_back(kNoEvent);
  }
  const auto view = open_view({.path = "nameless", .trace = trace});
  ASSERT_TRUE(view);
  const auto answer = view_trace(**view);
  ASSERT_EQ(answer->processes.size(), 3U);
  EXPECT_EQ(answer->processes[0].name, "process 40");
  EXPECT_EQ(answer->processes[1].name, "GPU 0 (NVIDIA B200)");
  EXPECT_EQ(answer->processes[2].name, "GPU 1");
}

TEST(ViewTimeline, several_threads_may_ask_everything_at_once) {
  const ViewPtr view = opened("small_train.json.gz");
  const auto ask_all = [&] {
    const auto tracks = tracks_of(*view, /*has_gaps=*/true);
    const unsigned level = whole_level(*view->trace);
    return view_trace(*view)->json() + view_tiles(*view, {.level = level, .tile = 0, .tracks = tracks})->bytes() +
           view_counters(*view, {.level = level, .tile = 0, .tracks = tracks})->json() +
           view_event(*view, {1300})->json() + view_search(*view, {.text = "aten", .from = 200})->json() +
           view_range(*view, {.start = 0, .end = 5'000'000})->json();
  };
  std::vector<std::string> answers(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& answer : answers) threads.emplace_back([&] { answer = ask_all(); });
  }
  for (const std::string& answer : answers) EXPECT_EQ(answer, ask_all());
}

}  // namespace
}  // namespace telltale::answers
