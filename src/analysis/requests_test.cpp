#include "analysis/requests.h"

#include <gtest/gtest.h>

#include "analysis/found_steps.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kNet = "nn.Module: Net_0", kLayer = "nn.Module: Linear_0", kLock = "<waits for lock>";

// A call of the model with a layer in it.
TraceSketch::Handle call(TraceSketch& sketch, TrackId thread, Nanoseconds start, Nanoseconds end) {
  const auto net = sketch.event(thread, Kind::kModule, kNet, start, end);
  sketch.event(thread, Kind::kModule, kLayer, start + 1, end - 1);
  sketch.set_inputs(sketch.op(thread, "aten::linear", start + 2, end - 2), "[[1,512],[512,512],[]]");
  return net;
}

TEST(Requests, are_calls_of_the_outermost_module_on_all_threads) {
  TraceSketch sketch;
  const TrackId a = sketch.thread("a"), b = sketch.thread("b");
  call(sketch, a, 0, 100);
  sketch.event(a, Kind::kPython, kLock, 100, 190);
  call(sketch, a, 200, 300);
  call(sketch, b, 50, 150);
  sketch.event(b, Kind::kPython, kLock, 60, 80);
  call(sketch, b, 400, 500);
  const Trace trace = sketch.build();
  const std::optional<Requests> requests = requests_of(trace);
  ASSERT_TRUE(requests.has_value());
  EXPECT_EQ(requests->name, "Net");
  EXPECT_EQ(requests->events.size(), 4);
  EXPECT_EQ(requests->p50_ns, 100);
  EXPECT_EQ(requests->threads, (std::vector<TrackId>{a, b}));
  EXPECT_DOUBLE_EQ(requests->per_second(), 4 / 500e-9);
  EXPECT_EQ(requests->most_at_once, 2);
  // 400 ns of requests while there is any: 0 to 150, 200 to 300 and 400 to 500.
  EXPECT_DOUBLE_EQ(requests->mean_at_once, 400.0 / 350);
  EXPECT_DOUBLE_EQ(requests->busy_percent, 40);  // of 2 × 500 ns
  ASSERT_EQ(requests->waits_between.size(), 1);
  EXPECT_EQ(requests->waits_between[0].what, "lock");
  EXPECT_EQ(requests->waits_between[0].ns, 90);
  ASSERT_EQ(requests->waits_inside.size(), 1);
  EXPECT_EQ(requests->waits_inside[0].ns, 20);
  EXPECT_EQ(requests->rows, 1);
}

TEST(Requests, are_calls_of_the_function_that_calls_the_model_several_times) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "serve.py(1): loop", 0, 1000);
  for (const Nanoseconds start : {0, 300, 600}) {
    sketch.event(thread, Kind::kPython, "serve.py(5): generate", start + 10, start + 250);
    call(sketch, thread, start + 20, start + 100);
    call(sketch, thread, start + 120, start + 200);
  }
  const std::optional<Requests> requests = requests_of(sketch.build());
  ASSERT_TRUE(requests.has_value());
  EXPECT_EQ(requests->name, "generate");
  EXPECT_FALSE(requests->are_calls_of_module);
  EXPECT_DOUBLE_EQ(requests->calls, 2);
  EXPECT_EQ(requests->p50_ns, 240);
}

TEST(Requests, there_are_none_in_programs_that_train_or_call_twice) {
  TraceSketch few, training;
  const TrackId thread = few.thread("main"), trainer = training.thread("main");
  for (const Nanoseconds start : {0, 300}) call(few, thread, start, start + 100);
  EXPECT_FALSE(requests_of(few.build()).has_value());
  for (const Nanoseconds start : {0, 300, 600}) call(training, trainer, start, start + 100);
  training.event(trainer, Kind::kAnnotation, "Optimizer.step#SGD.step", 700, 800);
  EXPECT_FALSE(requests_of(training.build()).has_value());
}

TEST(Requests, a_pass_lasts_from_one_wait_for_work_to_the_next) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "serve.py(1): loop", 0, 900);
  call(sketch, thread, 100, 200);
  sketch.event(thread, Kind::kPython, kLock, 210, 380);
  call(sketch, thread, 400, 500);
  sketch.event(thread, Kind::kPython, kLock, 510, 690);
  call(sketch, thread, 700, 800);
  const Trace trace = sketch.build();
  const FoundSteps found = found_steps(trace);
  EXPECT_EQ(found.source, StepSource::kPattern);
  ASSERT_EQ(found.steps.size(), 3);
  EXPECT_EQ(found.steps[0].host, (Interval{100, 210}));
  EXPECT_EQ(found.steps[1].host, (Interval{380, 510}));
  EXPECT_EQ(found.steps[2].host, (Interval{690, 800}));
}

TEST(Requests, a_loop_that_sleeps_or_works_between_calls_has_no_passes_of_its_own) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "serve.py(1): loop", 0, 900);
  for (const Nanoseconds start : {100, 400, 700}) {
    call(sketch, thread, start, start + 100);
    sketch.event(thread, Kind::kPython, "<waits for sleep>", start + 110, start + 190);
  }
  EXPECT_TRUE(served_passes(sketch.build(), SilentTime::kIsWork).empty());
}

}  // namespace
}  // namespace telltale
