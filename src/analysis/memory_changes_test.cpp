#include "analysis/memory_changes.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(MemoryChanges, counts_host_and_device_apart_and_both_ends_of_the_span) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.allocate(main, 10, 100, kHost);
  sketch.allocate(main, 20, 1000, 0);
  sketch.allocate(main, 30, -40, kHost);
  const Trace trace = sketch.build();

  const MemoryChanges changes(trace);
  auto walk = changes.walk(0);
  const MemoryChange all = walk.during(10, 30);
  EXPECT_EQ(all.host, 60);
  EXPECT_EQ(all.device, 1000);
  EXPECT_EQ(walk.during(11, 29).device, 1000);
  EXPECT_EQ(walk.during(21, 40).host, -40);
  EXPECT_EQ(walk.during(31, 40).host, 0);
}

TEST(MemoryChanges, counts_all_threads_of_the_process_and_no_other_process) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const TrackId autograd = sketch.thread("autograd");
  const TrackId elsewhere = sketch.thread("elsewhere");
  sketch.trace().processes.push_back({});
  sketch.trace().tracks[elsewhere].process = 1;
  sketch.allocate(main, 10, 1, 0);
  sketch.allocate(autograd, 11, 2, 0);
  sketch.allocate(elsewhere, 12, 4, 0);
  const Trace trace = sketch.build();

  const MemoryChanges changes(trace);
  EXPECT_EQ(changes.walk(0).during(0, 100).device, 3);
  EXPECT_EQ(changes.walk(1).during(0, 100).device, 4);
}

TEST(MemoryChanges, agree_with_adding_up_whatever_lies_in_the_span) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> time(0, 300), bytes(-50, 50), length(0, 80);
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  for (int i = 0; i < 500; ++i) sketch.allocate(main, time(random), bytes(random), i % 2 - 1);
  const Trace trace = sketch.build();

  const MemoryChanges changes(trace);
  auto walk = changes.walk(0);
  for (Nanoseconds start = 0; start < 310; start += 3) {
    const Nanoseconds end = start + length(random);
    MemoryChange expected;
    for (std::size_t row = 0; row < trace.memory.size(); ++row) {
      if (trace.memory.time[row] < start || trace.memory.time[row] > end) continue;
      (trace.memory.device[row] == kHost ? expected.host : expected.device) += trace.memory.bytes[row];
    }
    const MemoryChange change = walk.during(start, end);
    EXPECT_EQ(change.host, expected.host) << start << " to " << end;
    EXPECT_EQ(change.device, expected.device) << start << " to " << end;
  }
}

}  // namespace
}  // namespace telltale
