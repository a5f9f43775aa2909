#include "trace/slice.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

// Two threads; a kernel that runs after its launch; memory, a counter, arrows.
//
//            0    10   20   30   40   50
//   main     [outer                    ]   launch at 12 to 14 inside of inner
//            . [inner     ] .    [late ]   inner 5 to 25, late 40 to 50
//   worker   . .  [task] .             .   12 to 18
//   stream   . .       [ kernel  ]     .   22 to 38
class SliceTest : public testing::Test {
 protected:
  void SetUp() override {
    whole_.origin_epoch_ns = 1'000'000;
    whole_.processes = {{.name = intern("server"), .native_id = 5}, {.name = intern("GPU"), .native_id = 0}};
    add_track("main", TrackKind::kThread, 0);
    outer_ = add("outer", Kind::kAnnotation, 0, 50);
    inner_ = add("inner", Kind::kOperator, 5, 25);
    launch_ = add("launch", Kind::kRuntime, 12, 14);
    late_ = add("late", Kind::kOperator, 40, 50);
    add_track("worker", TrackKind::kThread, 0);
    task_ = add("task", Kind::kOther, 12, 18);
    add_track("stream 7", TrackKind::kStream, 1);
    kernel_ = add("kernel", Kind::kKernel, 22, 38);
    add_track("allocator", TrackKind::kThread, 0);
    add_track("power", TrackKind::kCounter, 0);
    whole_.duration = 50;
    Events& events = whole_.events;
    events.parent = {kNoEvent, outer_, inner_, outer_, kNoEvent, kNoEvent};
    events.cause = {kNoEvent, kNoEvent, kNoEvent, inner_, kNoEvent, launch_};
    whole_.flows = {{intern("handover"), inner_, task_}, {intern("handover"), late_, task_}};
    whole_.steps = {{7, inner_, 5, 20}, {8, late_, 40, 10}};
    whole_.operator_inputs = {{.shapes = intern("[[1]]")}, {.shapes = intern("[[2]]")}};
    whole_.operators.append(inner_, {.inputs = 0, .sequence = 3});
    whole_.operators.append(late_, {.inputs = 1, .sequence = 4});
    whole_.other_arguments.append(task_, intern("{\"a\":1}"));
    add_memory(6, 0, inner_);
    add_memory(15, 3, kNoEvent);
    add_memory(45, 0, late_);
    whole_.counters.time = {3, 24, 44};
    whole_.counters.value = {1, 2, 3};
    whole_.counters.series = {{intern("power"), intern("W"), 4, 0, 3}};
  }

  StringId intern(std::string_view text) { return whole_.strings.intern(text); }
  void add_track(std::string_view name, TrackKind kind, ProcessId process) {
    Track track;
    track.name = intern(name);
    track.kind = kind;
    track.process = process;
    track.first_event = static_cast<EventId>(whole_.events.size());
    whole_.tracks.push_back(track);
  }
  EventId add(std::string_view name, Kind kind, Nanoseconds start, Nanoseconds end) {
    whole_.events.start.push_back(start);
    whole_.events.duration.push_back(end - start);
    whole_.events.name.push_back(intern(name));
    whole_.events.kind.push_back(kind);
    whole_.events.track.push_back(static_cast<TrackId>(whole_.tracks.size() - 1));
    ++whole_.tracks.back().event_count;
    return static_cast<EventId>(whole_.events.size() - 1);
  }
  void add_memory(Nanoseconds time, TrackId track, EventId event) {
    whole_.memory.time.push_back(time);
    whole_.memory.address.push_back(static_cast<std::uint64_t>(time));
    whole_.memory.bytes.push_back(8);
    whole_.memory.total_allocated.push_back(-1);
    whole_.memory.total_reserved.push_back(-1);
    whole_.memory.device.push_back(kHost);
    whole_.memory.track.push_back(track);
    whole_.memory.event.push_back(event);
  }
  Trace sliced(Nanoseconds begin, Nanoseconds end) { return slice(whole_, selection_of(whole_, {begin, end})); }

  static std::vector<std::string> names(const Trace& trace) {
    std::vector<std::string> found;
    for (EventId event = 0; event < trace.events.size(); ++event) found.emplace_back(trace.name(event));
    return found;
  }
  static std::vector<std::string> tracks(const Trace& trace) {
    std::vector<std::string> found;
    for (const Track& track : trace.tracks) found.emplace_back(trace.strings[track.name]);
    return found;
  }

  Trace whole_;
  EventId outer_ = 0, inner_ = 0, launch_ = 0, late_ = 0, task_ = 0, kernel_ = 0;
};

using Names = std::vector<std::string>;

TEST_F(SliceTest, keeps_whole_what_has_a_part_in_the_window) {
  const Trace part = sliced(24, 30);
  EXPECT_EQ(names(part), (Names{"outer", "inner", "kernel"}));
  EXPECT_EQ(part.events.start, (std::vector<Nanoseconds>{0, 5, 22}));
  EXPECT_EQ(part.events.duration, (std::vector<Nanoseconds>{50, 20, 16}));
  EXPECT_EQ(part.duration, 50);
}

TEST_F(SliceTest, counts_time_from_the_earliest_of_what_is_left) {
  Selection selection = selection_of(whole_, {12, 20});
  selection.events[outer_] = false;
  const Trace part = slice(whole_, selection);
  EXPECT_EQ(names(part), (Names{"inner", "launch", "task"}));
  EXPECT_EQ(part.events.start, (std::vector<Nanoseconds>{0, 7, 7}));
  EXPECT_EQ(part.origin_epoch_ns, 1'000'005);
  EXPECT_EQ(part.duration, 20);
  EXPECT_EQ(part.events.parent, (std::vector<EventId>{kNoEvent, 0, kNoEvent}));
}

TEST_F(SliceTest, what_only_touches_the_window_is_outside) {
  EXPECT_EQ(names(sliced(18, 22)), (Names{"outer", "inner"}));  // task ends at 18, the kernel starts at 22
}

TEST_F(SliceTest, marks_stay_where_they_happen_in_the_window) {
  whole_.events.duration[task_] = 0;
  whole_.events.kind[task_] = Kind::kInstant;
  EXPECT_EQ(names(sliced(12, 13)).size(), 4u);
  EXPECT_EQ(names(sliced(10, 12)), (Names{"outer", "inner"}));
}

TEST_F(SliceTest, keeps_links_of_which_both_ends_stay) {
  const Trace both = sliced(13, 23);
  ASSERT_EQ(names(both), (Names{"outer", "inner", "launch", "task", "kernel"}));
  EXPECT_EQ(both.events.cause[4], 2u);
  ASSERT_EQ(both.flows.size(), 1u);
  EXPECT_EQ(both.flows[0].from, 1u);
  EXPECT_EQ(both.flows[0].to, 3u);
  EXPECT_EQ(sliced(24, 25).events.cause[2], 1u);  // the kernel is left with its operator, without its launch
  const Trace one = sliced(30, 31);
  ASSERT_EQ(names(one), (Names{"outer", "kernel"}));
  EXPECT_EQ(one.events.cause[1], kNoEvent);
  EXPECT_TRUE(one.flows.empty());
}

TEST_F(SliceTest, keeps_the_tracks_processes_and_steps_that_are_left) {
  const Trace part = sliced(40, 45);
  EXPECT_EQ(tracks(part), (Names{"main", "power"}));
  EXPECT_EQ(part.processes.size(), 1u);
  ASSERT_EQ(part.steps.size(), 1u);
  EXPECT_EQ(part.steps[0].index, 8);
  EXPECT_EQ(part.steps[0].event, 1u);
  EXPECT_EQ(part.steps[0].start, 40);
}

TEST_F(SliceTest, keeps_details_of_what_is_left_and_no_others) {
  const Trace part = sliced(40, 45);
  ASSERT_EQ(part.operators.size(), 1u);
  EXPECT_EQ(part.operators.event(0), 1u);
  EXPECT_EQ(part.operators.row(0).sequence, 4);
  ASSERT_EQ(part.operator_inputs.size(), 1u);
  EXPECT_EQ(part.strings[part.operator_inputs[part.operators.row(0).inputs].shapes], "[[2]]");
  EXPECT_TRUE(part.other_arguments.empty());
}

TEST_F(SliceTest, keeps_memory_events_and_counters_of_the_window) {
  const Trace part = sliced(15, 25);
  EXPECT_EQ(tracks(part), (Names{"main", "worker", "stream 7", "allocator", "power"}));
  EXPECT_EQ(part.memory.time, (std::vector<Nanoseconds>{15}));
  EXPECT_EQ(part.tracks[part.memory.track[0]].event_count, 0u);
  EXPECT_EQ(part.counters.time, (std::vector<Nanoseconds>{24}));
  EXPECT_EQ(part.counters.value, (std::vector<double>{2}));
  ASSERT_EQ(part.counters.series.size(), 1u);
  EXPECT_EQ(part.counters.series[0].track, 4u);
  EXPECT_EQ(sliced(5, 7).memory.event, (std::vector<EventId>{1}));
}

TEST_F(SliceTest, of_a_window_where_nothing_is_holds_nothing) {
  const Trace part = sliced(60, 70);
  EXPECT_EQ(part.events.size(), 0u);
  EXPECT_TRUE(part.tracks.empty());
  EXPECT_EQ(part.duration, 0);
}

TEST_F(SliceTest, of_everything_is_everything) {
  const Trace part = sliced(0, 100);
  EXPECT_EQ(names(part), names(whole_));
  EXPECT_EQ(part.events.parent, whole_.events.parent);
  EXPECT_EQ(part.events.cause, whole_.events.cause);
  EXPECT_EQ(tracks(part), tracks(whole_));
}

}  // namespace
}  // namespace telltale
