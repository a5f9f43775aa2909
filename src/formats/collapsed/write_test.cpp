#include "formats/collapsed/write.h"

#include <gtest/gtest.h>

#include "formats/output/testing/written.h"

namespace telltale::collapsed {
namespace {

Written written(const Trace& trace) { return written_by(write, trace); }

class CollapsedTest : public testing::Test {
 protected:
  void SetUp() override { trace_.processes.push_back({.name = trace_.strings.intern("python")}); }

  void track(std::string_view name, TrackKind kind = TrackKind::kThread, DeviceId device = kHost) {
    Track track;
    track.name = trace_.strings.intern(name);
    track.kind = kind;
    track.device = device;
    track.first_event = static_cast<EventId>(trace_.events.size());
    trace_.tracks.push_back(track);
  }
  EventId add(std::string_view name, Nanoseconds duration, EventId parent = kNoEvent, Kind kind = Kind::kPython,
              EventId cause = kNoEvent) {
    const auto track = static_cast<TrackId>(trace_.tracks.size() - 1);
    return append_event(trace_, track, kind, name, 0, duration, parent, cause);
  }

  Trace trace_;
};

TEST_F(CollapsedTest, a_line_has_a_stack_and_the_time_in_nothing_inside_of_it) {
  track("main");
  const EventId outer = add("f", 100);
  add("g", 30, outer);
  add("h", 20, outer);
  EXPECT_EQ(written(trace_).text, "python main;f 50\npython main;f;g 30\npython main;f;h 20\n");
}

TEST_F(CollapsedTest, equal_stacks_are_one_line) {
  track("main");
  for (int i = 0; i < 3; ++i) add("g", 10 + i, add("f", 20));
  EXPECT_EQ(written(trace_).text, "python main;f 27\npython main;f;g 33\n");
}

TEST_F(CollapsedTest, device_work_stands_inside_of_what_launched_it) {
  track("main");
  const EventId op = add("aten::mm", 100, add("f", 100));
  const EventId launch = add("cudaLaunchKernel", 100, op, Kind::kRuntime);
  track("stream 7", TrackKind::kStream, 1);
  const EventId covering = add("ProfilerStep#1", 900, kNoEvent, Kind::kDeviceAnnotation);
  add("gemm", 70, covering, Kind::kKernel, launch);
  add("gemm", 5, covering, Kind::kKernel, launch);
  add("lost", 8, covering, Kind::kKernel);
  const Written file = written(trace_);
  EXPECT_EQ(file.text,
            "python main;f;aten::mm;cudaLaunchKernel 100\n"
            "GPU 1 stream 7;f;aten::mm;cudaLaunchKernel;gemm 75\n"
            "GPU 1 stream 7;lost 8\n");
  ASSERT_EQ(file.left_out.entries().size(), 1u);
  EXPECT_EQ(file.left_out.entries()[0].count, 1u);  // the annotation
}

TEST_F(CollapsedTest, children_that_overlap_each_other_do_not_make_time_negative) {
  track("main");
  const EventId outer = add("f", 10);
  add("g", 8, outer);
  add("h", 9, outer);
  EXPECT_EQ(written(trace_).text, "python main;f;g 8\npython main;f;h 9\n");
}

TEST_F(CollapsedTest, names_keep_to_their_line_and_their_frame) {
  track("main");
  add("a;b\nc\xff", 3);
  EXPECT_EQ(written(trace_).text, "python main;a,b c\uFFFD 3\n");
}

TEST_F(CollapsedTest, what_has_no_place_is_counted) {
  track("main");
  const EventId event = add("mark", 0, kNoEvent, Kind::kInstant);
  trace_.other_arguments.append(event, trace_.strings.intern("{}"));
  trace_.memory.time = {1, 2};
  trace_.counters.time = {1, 2, 3};
  const Written file = written(trace_);
  EXPECT_EQ(file.text, "");
  std::vector<std::uint64_t> counts;
  for (const LeftOut& entry : file.left_out.entries()) counts.push_back(entry.count);
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 1, 2, 3}));
}

}  // namespace
}  // namespace telltale::collapsed
