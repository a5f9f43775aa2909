#include "analysis/step_strip.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

StepSpan step(std::int64_t index, Interval host, Interval device) { return {index, host, device, device.length()}; }

// Three steps on the device of 100, 300 and 200 ns, and the work of the one that follows.
StepTiming three_periods() {
  StepTiming timing;
  timing.source = StepSource::kMarks;
  timing.steps = {step(0, {0, 90}, {1000, 1080}), step(1, {90, 180}, {1100, 1390}), step(2, {180, 270}, {1400, 1580}),
                  step(3, {270, 360}, {1600, 1700})};
  timing.window = {1000, 1600};
  timing.periods = 3;
  return timing;
}

StepBreakdown on_device(TrackId thread) {
  StepBreakdown breakdown;
  breakdown.has_device = true;
  breakdown.device = 0;
  breakdown.thread = thread;
  return breakdown;
}

StepStrip strip_of(const Trace& trace, const StepTiming& timing, const StepBreakdown& breakdown,
                   const StripOptions& options = {}) {
  return step_strip(trace, timing, breakdown, host_work_by_event(trace), options);
}

TEST(StepStrip, shows_the_step_that_is_nearest_to_the_mean) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(stream, Kind::kKernel, "gemm", 1390, 1450);  // reaches into the step from the one before
  sketch.event(stream, Kind::kKernel, "vectorized_elementwise_kernel", 1500, 1580);
  sketch.event(stream, Kind::kKernel, "gemm", 1600, 1700);
  const Trace trace = sketch.build();

  const StepStrip strip = strip_of(trace, three_periods(), on_device(thread));
  EXPECT_EQ(strip.window, (Interval{1400, 1600}));
  ASSERT_EQ(strip.streams.size(), 1U);
  const auto& spans = strip.streams[0].spans;
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].when, (Interval{1400, 1450}));
  EXPECT_EQ(spans[0].work, WorkClass::kMatmul);
  EXPECT_EQ(spans[1].when, (Interval{1500, 1580}));
  EXPECT_EQ(spans[1].work, WorkClass::kElementwise);
  EXPECT_EQ(strip.streams[0].busy, 50 + 80);
}

TEST(StepStrip, takes_the_whole_window_when_no_step_is_whole) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::mm", 10, 30);
  const Trace trace = sketch.build();
  StepTiming timing;
  timing.steps = {step(0, {0, 40}, {0, 0})};
  timing.window = {5, 35};
  EXPECT_EQ(strip_of(trace, timing, on_device(thread)).window, (Interval{5, 35}));
}

TEST(StepStrip, follows_the_host_without_a_device) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::mm", 10, 30);
  const Trace trace = sketch.build();
  StepTiming timing;
  timing.steps = {step(0, {0, 40}, {0, 0})};
  timing.window = {0, 40};
  StepBreakdown breakdown;
  breakdown.thread = thread;
  const StepStrip strip = strip_of(trace, timing, breakdown);
  EXPECT_EQ(strip.window, (Interval{0, 40}));
  EXPECT_TRUE(strip.streams.empty());
  EXPECT_TRUE(strip.gaps.empty());
  ASSERT_EQ(strip.threads.size(), 1U);
  ASSERT_EQ(strip.threads[0].spans.size(), 1U);
  EXPECT_EQ(strip.threads[0].spans[0].when, (Interval{10, 30}));
  EXPECT_EQ(strip.threads[0].spans[0].work, HostWork::kOperators);
}

TEST(StepStrip, joins_what_a_thread_does_of_one_sort) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto linear = sketch.op(thread, "aten::linear", 1400, 1500);
  sketch.op(thread, "aten::addmm", 1420, 1480);
  sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 1500, 1520);
  const Trace trace = sketch.build();
  const StepStrip strip = strip_of(trace, three_periods(), on_device(thread));
  ASSERT_EQ(strip.threads.size(), 1U);
  const auto& spans = strip.threads[0].spans;
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].when, (Interval{1400, 1500}));
  EXPECT_EQ(spans[0].event, sketch.id(linear));
  EXPECT_EQ(spans[1].work, HostWork::kLaunching);
}

TEST(StepStrip, draws_short_events_of_a_column_as_one) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  // The window has 200 ns, so that two columns have 100 each.
  sketch.event(stream, Kind::kKernel, "vectorized_elementwise_kernel", 1410, 1420);
  const auto longest = sketch.event(stream, Kind::kKernel, "gemm", 1430, 1460);
  sketch.event(stream, Kind::kKernel, "vectorized_elementwise_kernel", 1470, 1480);
  sketch.event(stream, Kind::kKernel, "vectorized_elementwise_kernel", 1510, 1520);
  const Trace trace = sketch.build();
  const StepStrip strip = strip_of(trace, three_periods(), on_device(thread), {.columns = 2});
  const auto& spans = strip.streams[0].spans;
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].when, (Interval{1410, 1480}));
  EXPECT_EQ(spans[0].events, 3U);
  EXPECT_EQ(spans[0].busy, 50);
  EXPECT_EQ(spans[0].work, WorkClass::kMatmul);
  EXPECT_EQ(spans[0].event, sketch.id(longest));
  EXPECT_EQ(spans[1].events, 1U);
  EXPECT_DOUBLE_EQ(spans[1].share_busy(), 1);
}

TEST(StepStrip, stays_small_whatever_the_trace) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  StepTiming timing;
  timing.steps = {step(0, {0, 100}, {0, 2000}), step(1, {100, 200}, {2000, 4000})};
  timing.window = {0, 2000};
  for (Nanoseconds at = 0; at < 2000; at += 2) sketch.event(stream, Kind::kKernel, "gemm", at, at + 1);
  const Trace trace = sketch.build();
  const StepStrip strip = strip_of(trace, timing, on_device(thread), {.columns = 50});
  EXPECT_EQ(strip.streams[0].spans.size(), 50U);
  EXPECT_EQ(strip.streams[0].busy, 1000);

  const StepStrip smaller = strip_of(trace, timing, on_device(thread), {.columns = 400, .spans = 120});
  EXPECT_LE(smaller.streams[0].spans.size(), 120U);
  EXPECT_GE(smaller.streams[0].spans.size(), 60U);
  EXPECT_EQ(smaller.streams[0].busy, 1000);
}

TEST(StepStrip, puts_the_launching_thread_first_and_counts_what_it_leaves_out) {
  TraceSketch sketch;
  const TrackId busy = sketch.thread("busy");
  const TrackId main = sketch.thread("main");
  const TrackId idle = sketch.thread("idle");
  const TrackId third = sketch.thread("third");
  sketch.op(busy, "aten::mm", 1400, 1600);
  sketch.op(main, "aten::mm", 1400, 1410);
  sketch.op(third, "aten::mm", 1400, 1500);
  sketch.op(idle, "aten::mm", 0, 10);  // long before
  const Trace trace = sketch.build();
  const StepStrip strip = strip_of(trace, three_periods(), on_device(main), {.threads = 2});
  ASSERT_EQ(strip.threads.size(), 2U);
  EXPECT_EQ(strip.threads[0].track, main);
  EXPECT_EQ(strip.threads[1].track, busy);
  EXPECT_EQ(strip.threads_left_out, 1U);
}

TEST(StepStrip, has_the_gaps_of_its_step_by_cause) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const Trace trace = sketch.build();
  StepBreakdown breakdown = on_device(thread);
  breakdown.gaps = {{{1300, 1420}, HostWork::kSync, kNoEvent, kNoEvent},
                    {{1500, 1540}, HostWork::kPython, kNoEvent, kNoEvent},
                    {{1600, 1700}, HostWork::kSync, kNoEvent, kNoEvent}};
  const StepStrip strip = strip_of(trace, three_periods(), breakdown);
  ASSERT_EQ(strip.gaps.size(), 2U);
  EXPECT_EQ(strip.gaps[0].when, (Interval{1400, 1420}));
  EXPECT_EQ(strip.gaps[0].work, HostWork::kSync);
  EXPECT_EQ(strip.gaps[1].when, (Interval{1500, 1540}));
  EXPECT_EQ(strip.gaps[1].work, HostWork::kPython);
}

TEST(StepStrip, shows_calls_by_depth_without_frames_of_python) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "train.py(3): step", 1400, 1600);
  const auto linear = sketch.op(thread, "aten::linear", 1410, 1500);
  sketch.event(thread, Kind::kPython, "hook.py(1): hook", 1415, 1490);
  sketch.op(thread, "aten::addmm", 1420, 1480);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 1430, 1440);
  sketch.op(thread, "aten::relu", 1510, 1540);
  const Trace trace = sketch.build();

  EXPECT_TRUE(strip_of(trace, three_periods(), on_device(thread)).calls.empty()) << "nobody asked";
  const StepStrip strip = strip_of(trace, three_periods(), on_device(thread), {.calls = 3});
  ASSERT_EQ(strip.calls.size(), 3U);
  EXPECT_EQ(strip.calls[0].depth, 0U);
  ASSERT_EQ(strip.calls[0].spans.size(), 2U);
  EXPECT_EQ(strip.calls[0].spans[0].event, sketch.id(linear));
  EXPECT_EQ(strip.calls[0].spans[0].when, (Interval{1410, 1500})) << "with all that is called within";
  EXPECT_EQ(strip.calls[1].spans[0].when, (Interval{1420, 1480}));
  ASSERT_EQ(strip.calls[2].spans.size(), 1U);
  EXPECT_EQ(strip.calls[2].depth, 2U);
  EXPECT_EQ(strip.calls[2].spans[0].event, sketch.id(launch));
  EXPECT_EQ(strip.calls[2].spans[0].work, HostWork::kLaunching);

  EXPECT_EQ(strip_of(trace, three_periods(), on_device(thread), {.calls = 1}).calls.size(), 1U);
}

TEST(StepStrip, shows_few_calls_whatever_the_trace) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (Nanoseconds at = 1400; at < 1600; at += 2) sketch.op(thread, "aten::mul", at, at + 1);
  const Trace trace = sketch.build();
  const StepStrip strip =
      strip_of(trace, three_periods(), on_device(thread), {.columns = 200, .spans = 30, .calls = 2});
  ASSERT_EQ(strip.calls.size(), 1U);
  EXPECT_LE(strip.calls[0].spans.size(), 30U);
  EXPECT_GE(strip.calls[0].spans.size(), 15U);
  EXPECT_EQ(strip.calls[0].busy, 100);
}

TEST(StepStrip, of_an_empty_trace_is_empty) {
  const Trace trace;
  StepTiming timing;
  timing.steps = {step(0, {0, 0}, {0, 0})};
  const StepStrip strip = strip_of(trace, timing, {});
  EXPECT_EQ(strip.window.length(), 0);
  EXPECT_TRUE(strip.threads.empty());
}

}  // namespace
}  // namespace telltale
