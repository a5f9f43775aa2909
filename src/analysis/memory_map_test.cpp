#include "analysis/memory_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(MemoryMap, counts_what_was_there_before_the_trace_by_its_frees) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "op", 0, 100);
  sketch.allocate(thread, 10, 50, 0, 1);
  sketch.allocate(thread, 20, -300, 0, 9);
  const std::vector<DeviceMemory> devices = memory_by_device(sketch.build());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].allocated_before, 250);
}

// A recording that begins in the middle of a program: PyTorch's count of what it allocates on a host begins at 0, and
// 400 bytes of weights are there. A batch in shared memory is nobody's allocation.
TEST(MemoryMap, counts_on_a_host_what_was_noted_and_never_allocated) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "op", 0, 100);
  sketch.allocate(thread, 10, 50, kHost, 1);
  sketch.allocate(thread, 20, 70, kHost, 2);
  sketch.allocate(thread, 30, -50, kHost, 1);
  Trace trace = sketch.build();
  trace.memory.total_allocated = {50, 120, 70};
  const auto note = [&](std::uint64_t address, std::int64_t bytes, std::string_view role) {
    trace.noted_tensors.push_back(
        {1'000'000, address, bytes, kHost, trace.strings.intern(role), trace.strings.intern("x")});
  };
  EXPECT_EQ(memory_by_device(trace).at(0).peak.allocated, 120);
  note(2, 70, "optimizer_state");  // made within
  note(9, 300, "parameter");
  note(9, 300, "parameter");
  note(8, 100, "buffer");
  note(7, 1000, "input");
  const DeviceMemory host = memory_by_device(trace).at(0);
  EXPECT_EQ(host.allocated_before, 400);
  EXPECT_EQ(host.peak.allocated, 520);
  EXPECT_EQ(host.levels.back().allocated, 470);
}

TEST(MemoryMap, keeps_the_extremes_of_a_long_curve) {
  std::mt19937 random(3);
  std::vector<MemoryPoint> levels;
  for (int i = 0; i < 10'000; ++i)
    levels.push_back(
        {100 * i + static_cast<Nanoseconds>(random() % 90), static_cast<std::int64_t>(random() % 100'000), -1});
  for (const std::size_t most : {4u, 40u, 1200u}) {
    const std::vector<MemoryPoint> curve = thinned(levels, most);
    EXPECT_LE(curve.size(), most);
    const auto by_bytes = [](const MemoryPoint& a, const MemoryPoint& b) { return a.allocated < b.allocated; };
    EXPECT_EQ(std::ranges::max(curve, by_bytes).allocated, std::ranges::max(levels, by_bytes).allocated);
    EXPECT_EQ(std::ranges::min(curve, by_bytes).allocated, std::ranges::min(levels, by_bytes).allocated);
    EXPECT_EQ(curve.front().time, levels.front().time);
    EXPECT_EQ(curve.back().time, levels.back().time);
    EXPECT_TRUE(std::ranges::is_sorted(curve, {}, &MemoryPoint::time));
  }
  EXPECT_EQ(thinned(levels, 10'000).size(), 10'000u);
}

}  // namespace
}  // namespace telltale
