// Against replaying each allocation and free in the simplest way.
#include "analysis/memory_map.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "analysis/host_work.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

LiveMemory live_at(const Trace& trace, Nanoseconds at, DeviceId device = 0) {
  for (const DeviceMemory& memory : memory_by_device(trace))
    if (memory.device == device)
      return live_memory(trace, memory, at, phase_by_event(trace, host_work_by_event(trace)));
  return {};
}

std::map<std::string, std::int64_t> bytes_by_name(const std::vector<MemoryRow>& rows) {
  std::map<std::string, std::int64_t> bytes;
  for (const MemoryRow& row : rows) bytes[row.name] += row.bytes;
  return bytes;
}

TEST(MemoryMap, agrees_with_a_replay_of_each_allocation_and_free) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    TraceSketch sketch;
    const TrackId thread = sketch.thread("main");
    struct Drawn {
      Nanoseconds made, freed;
      std::int64_t bytes;
      std::string op;
      DeviceId device;
    };
    std::vector<Drawn> drawn;
    // By time, as allocations must be given.
    struct Change {
      Nanoseconds time;
      std::int64_t bytes;
      DeviceId device;
      std::uint64_t address;
    };
    std::vector<Change> changes;
    for (int i = 0; i < 60; ++i) {
      const std::string op = "op" + std::to_string(random() % 5);
      sketch.op(thread, op, 100 * i, 100 * i + 50);
      const Nanoseconds made = 100 * i + 10;
      const Nanoseconds freed =
          random() % 3 == 0 ? INT64_MAX : 100 * (i + 1 + static_cast<int>(random() % 20)) + 60 + i % 7;
      const auto device = static_cast<DeviceId>(random() % 2);
      const auto bytes = static_cast<std::int64_t>(1 + random() % 1000);
      drawn.push_back({made, freed, bytes, op, device});
      changes.push_back({made, bytes, device, 1000u + static_cast<std::uint64_t>(i)});
      if (freed != INT64_MAX) changes.push_back({freed, -bytes, device, 1000u + static_cast<std::uint64_t>(i)});
    }
    std::ranges::stable_sort(changes, {}, &Change::time);
    for (const Change& change : changes)
      sketch.allocate(thread, change.time, change.bytes, change.device, change.address);
    const Trace trace = sketch.build();
    for (const DeviceMemory& memory : memory_by_device(trace)) {
      std::int64_t highest = 0;
      for (Nanoseconds at = 0; at < 8500; at += 35) {
        std::map<std::string, std::int64_t> expected;
        std::int64_t sum = 0;
        for (const Drawn& each : drawn) {
          if (each.device != memory.device || each.made > at || each.freed <= at) continue;
          expected[each.op] += each.bytes;
          sum += each.bytes;
        }
        const LiveMemory live = live_at(trace, at, memory.device);
        EXPECT_EQ(bytes_by_name(live.by_operator), expected) << seed << ' ' << at;
        EXPECT_EQ(live.bytes, sum);
        EXPECT_EQ(live.before_bytes, 0);
        for (const auto* rows : {&live.by_operator, &live.by_module, &live.by_line, &live.by_kind}) {
          std::int64_t all = 0;
          for (const MemoryRow& row : *rows) all += row.bytes;
          EXPECT_EQ(all, sum);
        }
        highest = std::max(highest, sum);
      }
      EXPECT_GE(memory.peak.allocated, highest);
      EXPECT_EQ(live_at(trace, memory.peak.time, memory.device).bytes, memory.peak.allocated);
    }
  }
}

TEST(MemoryMap, counts_what_was_there_before_the_trace_by_its_frees) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "op", 0, 100);
  sketch.allocate(thread, 10, 50, 0, 1);
  sketch.allocate(thread, 20, -300, 0, 9);
  const Trace trace = sketch.build();
  const std::vector<DeviceMemory> devices = memory_by_device(trace);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].allocated_before, 250);
  const LiveMemory live = live_at(trace, 15);
  EXPECT_EQ(live.bytes, 50);
  EXPECT_EQ(live.before_bytes, 300);
  EXPECT_EQ(bytes_by_name(live.by_kind).at("before the trace"), 300);
  EXPECT_EQ(live_at(trace, 25).before_bytes, 0);
}

// The forward pass makes one block that the backward pass frees and one that it frees itself; the backward pass makes
// a gradient; the optimizer makes its state.
TEST(MemoryMap, names_what_memory_is_for_where_the_trace_shows_it) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), engine = sketch.thread("backward");
  Nanoseconds time = 0;
  for (int step = 0; step < 2; ++step, time += 1000) {
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), time, time + 1000);
    sketch.event(thread, Kind::kModule, "nn.Module: Net_0", time + 5, time + 110);
    const auto forward = sketch.op(thread, "aten::mm", time + 10, time + 100);
    const auto backward = sketch.op(engine, "MmBackward0", time + 200, time + 300);
    sketch.set_cause(backward, forward);
    sketch.event(thread, Kind::kAnnotation, "Optimizer.step#Adam.step", time + 400, time + 500);
    sketch.op(thread, "aten::zeros", time + 410, time + 420);
    const auto base = static_cast<std::uint64_t>(10 * step);
    sketch.allocate(thread, time + 20, 1, 0, base + 1);
    sketch.allocate(thread, time + 30, 10, 0, base + 2);
    sketch.allocate(thread, time + 40, -10, 0, base + 2);
    sketch.allocate(engine, time + 210, 100, 0, base + 3);
    sketch.allocate(engine, time + 220, 1000, 0, base + 4);
    sketch.allocate(engine, time + 230, -1, 0, base + 1);
    sketch.allocate(engine, time + 240, -1000, 0, base + 4);
    if (step == 0) sketch.allocate(thread, time + 415, 10'000, 0, base + 5);
    sketch.allocate(thread, time + 600, -100, 0, base + 3);
  }
  const Trace trace = sketch.build();
  using Bytes = std::map<std::string, std::int64_t>;
  EXPECT_EQ(bytes_by_name(live_at(trace, 35).by_kind), (Bytes{{"kept for backward", 1}, {"forward", 10}}));
  EXPECT_EQ(bytes_by_name(live_at(trace, 225).by_kind),
            (Bytes{{"kept for backward", 1}, {"gradients", 100}, {"backward", 1000}}));
  EXPECT_EQ(bytes_by_name(live_at(trace, 450).by_kind), (Bytes{{"gradients", 100}, {"optimizer state", 10'000}}));
}

TEST(MemoryMap, tells_modules_and_lines_also_of_what_runs_backward) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), engine = sketch.thread("backward");
  sketch.event(thread, Kind::kPython, "train.py(7): step", 0, 100);
  sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", 5, 60);
  const auto forward = sketch.op(thread, "aten::mm", 10, 50);
  const auto backward = sketch.op(engine, "MmBackward0", 200, 300);
  sketch.set_cause(backward, forward);
  sketch.allocate(thread, 20, 5, 0, 1);
  sketch.allocate(engine, 210, 6, 0, 2);
  const Trace trace = sketch.build();
  const LiveMemory live = live_at(trace, 400);
  EXPECT_EQ(bytes_by_name(live.by_module), (std::map<std::string, std::int64_t>{{"Linear_0", 11}}));
  EXPECT_EQ(bytes_by_name(live.by_line), (std::map<std::string, std::int64_t>{{"train.py:7", 11}}));
  EXPECT_EQ(live.by_module.front().allocations, 2);
  EXPECT_EQ(trace.name(live.by_module.front().example), "MmBackward0");
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

TEST(MemoryMap, sums_up_what_is_too_little_to_be_listed) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int i = 0; i < 300; ++i) sketch.op(thread, "op" + std::to_string(i), 10 * i, 10 * i + 8);
  for (int i = 0; i < 300; ++i) sketch.allocate(thread, 10 * i + 4, i + 1, 0, static_cast<std::uint64_t>(i));
  const LiveMemory live = live_at(sketch.build(), 5000);
  ASSERT_EQ(live.by_operator.size(), 100u);
  EXPECT_EQ(live.by_operator.back().name, "201 others");
  EXPECT_EQ(live.by_operator.back().bytes, 201 * 202 / 2);
}

}  // namespace
}  // namespace telltale
