#include "analysis/launch_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

struct Sketch : TraceSketch {
  TrackId main = thread("main");
  TrackId stream7 = stream(0, 7), stream8 = stream(0, 8), elsewhere = stream(1, 7);

  Handle call(Nanoseconds start, Nanoseconds end, std::string_view name = "cudaLaunchKernel") {
    return event(main, Kind::kRuntime, name, start, end);
  }
  void kernel(TrackId on, Nanoseconds start, Nanoseconds end, Handle launch) {
    work(on, Kind::kKernel, "k", start, end, launch);
  }
};

LaunchQueue queue_over(Sketch& sketch, Interval window) {
  StepTiming timing;
  timing.steps = {{0, window}};
  timing.window = window;
  return launch_queue(sketch.build(), timing, 0);
}

TEST(LaunchQueue, work_waits_from_the_end_of_its_call_to_its_start) {
  Sketch sketch;
  sketch.kernel(sketch.stream7, 10, 50, sketch.call(0, 20));  // begins before its call ends
  sketch.kernel(sketch.stream7, 50, 60, sketch.call(20, 25));
  sketch.kernel(sketch.stream7, 60, 90, sketch.call(25, 30));
  sketch.kernel(sketch.stream8, 60, 90, sketch.call(30, 40));
  sketch.kernel(sketch.elsewhere, 70, 90, sketch.call(40, 45));
  sketch.event(sketch.stream8, Kind::kKernel, "launched before the trace", 95, 99);
  const LaunchQueue queue = queue_over(sketch, {0, 100});

  const std::vector<LaunchQueue::Point> expected = {{0, 0}, {25, 1}, {30, 2}, {40, 3}, {50, 2}, {60, 0}};
  EXPECT_EQ(queue.points, expected);
  EXPECT_DOUBLE_EQ(queue.mean_depth, (5 * 1 + 10 * 2 + 10 * 3 + 10 * 2) / 100.0);
  EXPECT_DOUBLE_EQ(queue.share_empty, (30 + 40) / 100.0);
}

TEST(LaunchQueue, what_waits_at_the_edges_of_the_window_counts_within_it) {
  Sketch sketch;
  const auto early = sketch.call(0, 10);
  sketch.kernel(sketch.stream7, 5, 8, early);  // over before the window
  sketch.kernel(sketch.stream7, 120, 130, early);
  sketch.kernel(sketch.stream7, 130, 140, early);
  sketch.kernel(sketch.stream7, 260, 270, sketch.call(150, 160));
  const LaunchQueue queue = queue_over(sketch, {100, 200});

  const std::vector<LaunchQueue::Point> expected = {{100, 2}, {120, 1}, {130, 0}, {160, 1}, {200, 0}};
  EXPECT_EQ(queue.points, expected);
  EXPECT_DOUBLE_EQ(queue.mean_depth, (20 * 2 + 10 + 40) / 100.0);
  EXPECT_DOUBLE_EQ(queue.share_empty, 0.8);
}

TEST(LaunchQueue, latency_is_the_median_over_kernels_whose_stream_was_free_at_the_call) {
  Sketch sketch;
  sketch.kernel(sketch.stream7, 8, 20, sketch.call(0, 5));
  sketch.kernel(sketch.stream7, 90, 95, sketch.call(10, 15));  // its stream was busy
  sketch.kernel(sketch.stream7, 105, 200, sketch.call(100, 103));
  sketch.kernel(sketch.stream8, 117, 180, sketch.call(110, 113));
  sketch.work(sketch.stream8, Kind::kMemcpy, "copy", 490, 500, sketch.call(400, 410, "cudaMemcpyAsync"));
  const LaunchQueue queue = queue_over(sketch, {0, 1000});
  EXPECT_EQ(queue.launch_latency, 7);  // of 8, 5 and 7
}

TEST(LaunchQueue, without_device_work_the_queue_is_empty) {
  Sketch sketch;
  const LaunchQueue queue = queue_over(sketch, {0, 100});
  EXPECT_EQ(queue.points, (std::vector<LaunchQueue::Point>{{0, 0}}));
  EXPECT_EQ(queue.mean_depth, 0);
  EXPECT_EQ(queue.share_empty, 1);
  EXPECT_EQ(queue.launch_latency, 0);
}

TEST(LaunchQueue, a_window_without_length_has_no_shares) {
  Sketch sketch;
  sketch.kernel(sketch.stream7, 40, 50, sketch.call(0, 5));
  const LaunchQueue queue = queue_over(sketch, {20, 20});
  EXPECT_EQ(queue.mean_depth, 0);
  EXPECT_EQ(queue.share_empty, 0);
}

// Works launched every few nanoseconds that wait for up to 40, and the depth at every instant, counted one by one.
struct RandomWorks {
  Sketch sketch;
  std::vector<std::int32_t> depth;
  Interval window;

  explicit RandomWorks(int works) : depth(static_cast<std::size_t>(works) * 10 + 100), window{100, works * 4} {
    std::mt19937 random(11);
    Nanoseconds called = 0, started = 0;
    for (int i = 0; i < works; ++i) {
      called += 3 + static_cast<Nanoseconds>(random() % 4);
      started = std::max(started + 1, called + static_cast<Nanoseconds>(random() % 40));
      sketch.kernel(i % 3 == 0 ? sketch.stream8 : sketch.stream7, started, started + 1,
                    sketch.call(called, called + 2));
      for (Nanoseconds at = called + 2; at < started; ++at) ++depth_at(at);
    }
  }
  std::int32_t& depth_at(Nanoseconds time) { return depth.at(static_cast<std::size_t>(time)); }
};

TEST(LaunchQueue, agrees_with_counting_at_every_instant) {
  for (const int count : {60, 4000}) {
    RandomWorks works(count);
    const LaunchQueue queue = queue_over(works.sketch, works.window);
    double sum = 0, empty = 0;
    for (Nanoseconds at = works.window.begin; at < works.window.end; ++at) {
      sum += works.depth_at(at);
      empty += works.depth_at(at) <= 1;
    }
    EXPECT_DOUBLE_EQ(queue.mean_depth, sum / static_cast<double>(works.window.length()));
    EXPECT_DOUBLE_EQ(queue.share_empty, empty / static_cast<double>(works.window.length()));
    for (const LaunchQueue::Point& point : queue.points)
      EXPECT_EQ(point.depth, point.time < works.window.end ? works.depth_at(point.time) : 0);
  }
}

TEST(LaunchQueue, of_many_points_keeps_the_extremes) {
  RandomWorks works(4000);
  const LaunchQueue queue = queue_over(works.sketch, works.window);
  std::int32_t deepest = 0;
  for (Nanoseconds at = works.window.begin; at < works.window.end; ++at)
    deepest = std::max(deepest, works.depth_at(at));
  EXPECT_GT(queue.points.size(), 3000);
  EXPECT_LE(queue.points.size(), 4000);
  EXPECT_TRUE(std::ranges::is_sorted(queue.points, {}, &LaunchQueue::Point::time));
  EXPECT_EQ(std::ranges::max(queue.points, {}, &LaunchQueue::Point::depth).depth, deepest);
}

}  // namespace
}  // namespace telltale
