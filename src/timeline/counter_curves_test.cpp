#include "timeline/counter_curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// The oracle: bucket by bucket, all values looked at.
std::vector<CurvePoint> drawn_slowly(const std::vector<Nanoseconds>& times, const std::vector<std::int64_t>& values,
                                     unsigned level, Interval window) {
  std::vector<CurvePoint> points;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (times[i] < window.begin) {
      points = {{times[i], value, value, value}};
      continue;
    }
    if (times[i] >= window.end) continue;
    const bool is_same =
        !points.empty() && points.back().time >= window.begin && points.back().time >> level == times[i] >> level;
    if (!is_same) {
      points.push_back({times[i], value, value, value});
      continue;
    }
    CurvePoint& point = points.back();
    point = {point.time, std::min(point.minimum, value), std::max(point.maximum, value), value};
  }
  return points;
}

TEST(CounterCurves, a_bucket_has_its_least_greatest_and_last_value) {
  std::mt19937_64 random(9);
  for (const std::size_t count : {1, 16, 17, 300, 4200}) {
    std::vector<Nanoseconds> times;
    std::vector<std::int64_t> values;
    Nanoseconds at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      times.push_back(at += static_cast<Nanoseconds>(random() % 50));
      values.push_back(static_cast<std::int64_t>(random() % 1000) - 500);
    }
    CompactTimes compact;
    for (const Nanoseconds time : times) compact.push_back(time);
    const CounterCurve curve(compact, values);
    EXPECT_EQ(curve.extremes().minimum, static_cast<double>(std::ranges::min(values)));
    EXPECT_EQ(curve.extremes().maximum, static_cast<double>(std::ranges::max(values)));
    for (unsigned level = 0; level < 18; ++level) {
      for (int round = 0; round < 10; ++round) {
        const Nanoseconds first = static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(at + 100)) >> level;
        const Interval window{first << level, (first + 64) << level};
        EXPECT_EQ(curve.draw(level, window), drawn_slowly(times, values, level, window));
      }
    }
  }
}

CounterCurve named(const std::vector<CounterCurve>& curves, std::string_view name) {
  const auto found = std::ranges::find(curves, name, &CounterCurve::name);
  EXPECT_NE(found, curves.end()) << name;
  return *found;
}

TEST(CounterCurves, gauges_have_their_device_and_unit) {
  TraceSketch sketch;
  sketch.thread("main");
  sketch.count("GPU 1: power (W)", 5, 300);
  sketch.count("GPU 1: power (W)", 9, 310);
  sketch.count("loss", 7, 0.5);
  const Trace trace = sketch.build();
  const std::vector<CounterCurve> curves = counter_curves(trace);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].name, "GPU 1: power");
  EXPECT_EQ(curves[0].unit, "W");
  EXPECT_EQ(curves[0].device, 1);
  EXPECT_EQ(curves[0].value(1), 310);
  EXPECT_EQ(curves[1].name, "loss");
  EXPECT_EQ(curves[1].unit, "");
}

TEST(CounterCurves, memory_is_added_up_where_there_are_no_totals) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.allocate(thread, 10, 100, 0);
  sketch.allocate(thread, 20, -300, 0);  // allocated before the trace
  sketch.allocate(thread, 30, 50, 0);
  const Trace trace = sketch.build();
  const CounterCurve curve = named(counter_curves(trace), "GPU 0: memory allocated");
  const std::vector<CurvePoint> expected = {{10, 300, 300, 300}, {20, 0, 0, 0}, {30, 50, 50, 50}};
  EXPECT_EQ(curve.draw(0, {0, 1024}), expected);
  EXPECT_EQ(curve.unit, "bytes");
}

TEST(CounterCurves, totals_count_where_they_were_recorded) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.allocate(thread, 10, 100, 0);
  sketch.allocate(thread, 20, 100, kHost);
  sketch.allocate(thread, 30, 60, 0);
  MemoryEvents& memory = sketch.trace().memory;
  memory.total_allocated = {1100, 7, 1160};
  memory.total_reserved = {4096, 0, 4096};
  const Trace trace = sketch.build();
  const std::vector<CounterCurve> curves = counter_curves(trace);
  EXPECT_EQ(named(curves, "GPU 0: memory allocated").draw(0, {0, 1024}),
            (std::vector<CurvePoint>{{10, 1100, 1100, 1100}, {30, 1160, 1160, 1160}}));
  EXPECT_EQ(named(curves, "GPU 0: memory reserved").size(), 1U) << "it does not change";
  EXPECT_EQ(named(curves, "host: memory allocated").value(0), 7);
  EXPECT_EQ(std::ranges::count(curves, "host: memory reserved", &CounterCurve::name), 0) << "the host reserves nothing";
}

TEST(CounterCurves, launches_wait_from_their_call_to_their_work) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  const auto launch = [&](Nanoseconds at) {
    return sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", at, at + 2);
  };
  sketch.work(stream, Kind::kKernel, "k", 20, 30, launch(0));
  sketch.work(stream, Kind::kKernel, "k", 30, 40, launch(10));
  const Trace trace = sketch.build();
  EXPECT_EQ(named(counter_curves(trace), "GPU 0: launches waiting").draw(0, {0, 1024}),
            (std::vector<CurvePoint>{{0, 0, 0, 0}, {2, 1, 1, 1}, {12, 2, 2, 2}, {20, 1, 1, 1}, {30, 0, 0, 0}}));
}

}  // namespace
}  // namespace telltale
