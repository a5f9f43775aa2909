#include "trace/unrecorded_steps.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

using Stretches = std::vector<UnrecordedStretch>;

Trace with(std::string_view name, std::string value) {
  Trace trace;
  trace.origin_epoch_ns = 1'000'000;
  trace.duration = 500;
  trace.metadata.emplace_back(name, std::move(value));
  return trace;
}

TEST(UnrecordedSteps, are_none_where_nobody_tells_of_any) {
  EXPECT_EQ(unrecorded_steps(Trace()), Stretches{});
  EXPECT_EQ(pauses(Trace()), std::vector<Interval>{});
}

TEST(UnrecordedSteps, are_those_that_a_recorder_tells_of) {
  const Trace trace = with(
      kUnrecordedSteps, R"([{"when":"before","first":0,"took_ns":[30,20]},{"when":"after","first":9,"took_ns":[7]}])");
  EXPECT_EQ(unrecorded_steps(trace), (Stretches{{Unrecorded::kBefore, 0, {30, 20}}, {Unrecorded::kAfter, 9, {7}}}));
}

TEST(UnrecordedSteps, are_not_what_is_written_otherwise) {
  for (const char* text : {"7", "{}", "[7]", R"([{"when":"never","took_ns":[1]}])", R"([{"when":"after"}])",
                           R"([{"when":"after","took_ns":[1,"x"]}])", R"([{"when":"after","took_ns":[-1]}])", "[[",
                           R"([{"when":"after","took_ns":[9223372036854775807,9223372036854775807]}])"})
    EXPECT_EQ(unrecorded_steps(with(kUnrecordedSteps, text)), Stretches{}) << text;
  for (const char* text : {"7", "[]", "{}", R"({"took_ns":[1]})", R"({"began_ns":1,"took_ns":7})",
                           R"({"began_ns":"a","took_ns":[2]})", R"({"began_ns":9223372036854775807,"took_ns":[2]})"})
    EXPECT_EQ(unrecorded_steps(with(kTimedSteps, text)), Stretches{}) << text;
}

// The trace is from 1,000,000 to 1,000,500; steps of 100 began at 999,600, four of them before it. The last before it
// was used to warm up, the next five are recorded, in part or as a whole.
TEST(UnrecordedSteps, are_those_of_all_timed_ones_that_lie_outside_the_trace) {
  const Trace trace = with(kTimedSteps, R"({"warmup":1,"first":3,"began_ns":999600,)"
                                        R"("took_ns":[100,100,100,100,100,100,100,100,100,100,100]})");
  EXPECT_EQ(unrecorded_steps(trace),
            (Stretches{{Unrecorded::kBefore, 3, {100, 100, 100}}, {Unrecorded::kAfter, 12, {100, 100}}}));
}

TEST(UnrecordedSteps, have_no_place_in_a_trace_that_does_not_know_its_time) {
  Trace trace = with(kTimedSteps, R"({"began_ns":10,"took_ns":[100]})");
  trace.origin_epoch_ns = 0;
  EXPECT_EQ(unrecorded_steps(trace), Stretches{});
}

//          0          100   110   120   130   135        235
//   main   [loop                                          ]
//          [step 0    ]                    . [step 1      ]
//                      [unrec][unrec][unrec]    [op]           the op from 150 to 160
class PausedTest : public testing::Test {
 protected:
  void SetUp() override {
    trace_.processes = {{.name = trace_.strings.intern("python"), .native_id = 5}};
    Track track;
    track.kind = TrackKind::kThread;
    track.name = trace_.strings.intern("main");
    trace_.tracks = {track};
    loop_ = add("loop", 0, 235);
    const EventId first = add("ProfilerStep#0", 0, 100);
    add("UnrecordedStep", 102, 110);
    add("UnrecordedStep", 110, 120);
    add("UnrecordedStep", 120, 130);
    const EventId second = add("ProfilerStep#1", 135, 235);
    op_ = add("op", 150, 160);
    trace_.events.parent = {kNoEvent, loop_, loop_, loop_, loop_, loop_, second};
    trace_.tracks[0].event_count = static_cast<EventId>(trace_.events.size());
    trace_.steps = {{0, first, 0, 100}, {1, second, 135, 100}};
    trace_.duration = 235;
    trace_.memory.time = {50, 115, 155};
    for (auto* const column : {&trace_.memory.bytes, &trace_.memory.total_allocated, &trace_.memory.total_reserved})
      column->assign(3, 1);
    trace_.memory.address.assign(3, 1);
    trace_.memory.device.assign(3, 0);
    trace_.memory.track.assign(3, 0);
    trace_.memory.event.assign(3, kNoEvent);
  }

  EventId add(std::string_view name, Nanoseconds start, Nanoseconds end) {
    trace_.events.start.push_back(start);
    trace_.events.duration.push_back(end - start);
    trace_.events.name.push_back(trace_.strings.intern(name));
    trace_.events.kind.push_back(name == "op" ? Kind::kOperator : Kind::kAnnotation);
    trace_.events.track.push_back(0);
    trace_.events.cause.push_back(kNoEvent);
    return static_cast<EventId>(trace_.events.size() - 1);
  }

  EventId add_kernel() {
    const EventId kernel = add("kernel", 90, 101);
    trace_.events.kind[kernel] = Kind::kKernel;
    trace_.events.parent.push_back(kNoEvent);
    ++trace_.tracks[0].event_count;
    return kernel;
  }

  Trace trace_;
  EventId loop_ = 0, op_ = 0;
};

TEST_F(PausedTest, a_pause_is_from_the_step_before_to_the_step_after) {
  EXPECT_EQ(pauses(trace_), (std::vector<Interval>{{100, 135}}));
  EXPECT_EQ(unrecorded_steps(trace_), (Stretches{{Unrecorded::kPaused, 0, {8, 10, 10}}}));
}

TEST_F(PausedTest, without_pauses_steps_follow_each_other) {
  const Trace shorter = without_pauses(trace_);
  ASSERT_EQ(shorter.steps.size(), 2u);
  EXPECT_EQ(shorter.steps[1].start, 100);
  EXPECT_EQ(shorter.steps[1].duration, 100);
  EXPECT_EQ(shorter.events.start[op_], 115);
  EXPECT_EQ(shorter.events.duration[op_], 10);
  EXPECT_EQ(shorter.name(op_), "op");
  EXPECT_EQ(shorter.events.duration[loop_], 200);
  EXPECT_EQ(shorter.duration, 200);
  EXPECT_EQ(shorter.memory.time, (std::vector<Nanoseconds>{50, 100, 120}));
}

TEST_F(PausedTest, without_pauses_their_steps_are_still_told_of) {
  const Trace shorter = without_pauses(trace_);
  EXPECT_EQ(pauses(shorter), std::vector<Interval>{});
  EXPECT_EQ(unrecorded_steps(shorter), (Stretches{{Unrecorded::kPaused, 0, {8, 10, 10}}}));
}

// The device is 1 behind the host when step 0 ends.
TEST_F(PausedTest, begins_when_the_device_has_done_its_part_of_the_step) {
  const EventId kernel = add_kernel();
  EXPECT_EQ(pauses(trace_), (std::vector<Interval>{{101, 135}}));
  const Trace shorter = without_pauses(trace_);
  EXPECT_EQ(shorter.events.duration[kernel], 11);
  EXPECT_EQ(shorter.steps[1].start, 101);
}

TEST_F(PausedTest, lets_its_steps_share_what_the_device_still_had_to_do) {
  add_kernel();
  add("UnrecordedWait", 131, 134);
  trace_.events.parent.push_back(kNoEvent);
  const Stretches behind = {{Unrecorded::kPaused, 0, {9, 11, 11}, false, {8, 10, 10}}};
  EXPECT_EQ(unrecorded_steps(trace_), behind);
  EXPECT_EQ(unrecorded_steps(without_pauses(trace_)), behind);
}

// 28 by the host's clock and 12 more: single steps are not known.
TEST_F(PausedTest, has_steps_alike_where_the_host_was_far_ahead) {
  add_kernel();
  add("UnrecordedWait", 131, 143);
  trace_.events.parent.push_back(kNoEvent);
  EXPECT_EQ(unrecorded_steps(trace_), (Stretches{{Unrecorded::kPaused, 0, {13, 13, 13}, false, {8, 10, 10}}}));
}

TEST_F(PausedTest, that_ends_the_recording_has_what_the_device_had_to_do_in_the_header) {
  add_kernel();
  add("UnrecordedWait", 131, 134);
  add("UnrecordedStep", 235, 240);
  trace_.events.parent.insert(trace_.events.parent.end(), 2, kNoEvent);
  trace_.tracks[0].event_count += 2;
  trace_.duration = 240;
  const UnrecordedStretch first = {Unrecorded::kPaused, 0, {9, 11, 11}, false, {8, 10, 10}};
  EXPECT_EQ(unrecorded_steps(trace_), (Stretches{first, {Unrecorded::kPaused, 0, {5}, true, {}}})) << "nobody waited";
  EXPECT_EQ(unrecorded_steps(without_pauses(trace_)), unrecorded_steps(trace_));
  for (const char* wait : {"40", R"("40")"}) {
    trace_.metadata = {{std::string(kLastUnrecordedWait), wait}};
    EXPECT_EQ(unrecorded_steps(trace_), (Stretches{first, {Unrecorded::kPaused, 0, {45}, false, {5}}}));
  }
}

// A watt until 90, two until 140, and one again: 70 J of the 285 belong to the pause from 100 to 135.
TEST_F(PausedTest, without_pauses_the_energy_that_they_used_is_left_out) {
  trace_.counters.time = {0, 90, 120, 140, 235, 0, 235};
  trace_.counters.value = {0, 90, 150, 190, 285, 7, 9};
  trace_.counters.series = {{trace_.strings.intern("GPU 0: energy (J)"), kEmptyString, 0, 0, 5},
                            {trace_.strings.intern("GPU 0: power (W)"), kEmptyString, 0, 5, 2}};
  const Trace shorter = without_pauses(trace_);
  EXPECT_EQ(shorter.counters.time, (std::vector<Nanoseconds>{0, 90, 100, 105, 200, 0, 200}));
  EXPECT_EQ(shorter.counters.value, (std::vector<double>{0, 90, 110, 120, 215, 7, 9}));
}

}  // namespace
}  // namespace telltale
