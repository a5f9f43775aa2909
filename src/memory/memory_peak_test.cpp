// Against replaying each allocation and free in the simplest way.
#include "memory/memory_peak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "analysis/host_work.h"
#include "analysis/testing/trace_sketch.h"
#include "memory/memory_timeline.h"

namespace telltale {
namespace {

struct Known {
  std::vector<DeviceMemory> devices;
  std::map<DeviceId, std::vector<UsedBlock>> blocks;

  explicit Known(const Trace& trace) : devices(memory_by_device(trace)) {
    const std::vector<Phase> phases = phase_by_event(trace, host_work_by_event(trace));
    for (const DeviceMemory& device : devices) blocks[device.device] = used_blocks(trace, device.device, phases);
  }
  MemoryPeak at(const Trace& trace, Nanoseconds time, std::size_t device = 0) const {
    return memory_at(trace, devices[device], blocks.at(devices[device].device), time);
  }
};

template <typename Row>
std::int64_t sum_of(const std::vector<Row>& rows) {
  std::int64_t sum = 0;
  for (const Row& row : rows) sum += row.bytes;
  return sum;
}

std::map<std::string, std::int64_t> by_name(const std::vector<NamedBytes>& rows) {
  std::map<std::string, std::int64_t> bytes;
  for (const NamedBytes& row : rows) bytes[row.name] += row.bytes;
  return bytes;
}

std::map<MemoryUse, std::int64_t> by_use(const MemoryPeak& peak) {
  std::map<MemoryUse, std::int64_t> bytes;
  for (const UseBytes& row : peak.uses) bytes[row.use] += row.bytes;
  return bytes;
}

struct Drawn {
  Nanoseconds made, freed;
  std::int64_t bytes;
  std::string op;
  DeviceId device;
};

struct DrawnTrace {
  std::vector<Drawn> blocks;
  TraceSketch sketch;

  explicit DrawnTrace(unsigned seed) {
    std::mt19937 random(seed);
    const TrackId thread = sketch.thread("main");
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
      blocks.push_back({made, freed, bytes, op, device});
      changes.push_back({made, bytes, device, 1000u + static_cast<std::uint64_t>(i)});
      if (freed != INT64_MAX) changes.push_back({freed, -bytes, device, 1000u + static_cast<std::uint64_t>(i)});
    }
    std::ranges::stable_sort(changes, {}, &Change::time);
    for (const Change& change : changes)
      sketch.allocate(thread, change.time, change.bytes, change.device, change.address);
  }

  std::vector<Drawn> standing(DeviceId device, Nanoseconds at) const {
    std::vector<Drawn> found;
    for (const Drawn& each : blocks)
      if (each.device == device && each.made <= at && each.freed > at) found.push_back(each);
    return found;
  }
};

TEST(MemoryPeak, agrees_at_any_time_with_a_replay_of_each_allocation_and_free) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    DrawnTrace drawn(seed);
    const Trace trace = drawn.sketch.build();
    const Known known(trace);
    for (std::size_t device = 0; device < known.devices.size(); ++device) {
      std::int64_t highest = 0;
      for (Nanoseconds at = 0; at < 8500; at += 35) {
        std::map<std::string, std::int64_t> expected;
        std::int64_t sum = 0;
        for (const Drawn& each : drawn.standing(known.devices[device].device, at)) {
          expected[each.op] += each.bytes;
          sum += each.bytes;
        }
        const MemoryPeak found = known.at(trace, at, device);
        EXPECT_EQ(found.allocated, sum) << seed << ' ' << at;
        EXPECT_EQ(by_name(found.operators), expected) << seed << ' ' << at;
        EXPECT_EQ(found.placed, sum);
        EXPECT_EQ(sum_of(found.uses), sum);
        EXPECT_EQ(sum_of(found.lines), sum);
        EXPECT_EQ(sum_of(found.modules), sum);
        EXPECT_EQ(sum_of(found.sizes), sum);
        highest = std::max(highest, sum);
      }
      EXPECT_GE(known.devices[device].peak.allocated, highest);
    }
  }
}

TEST(MemoryTimeline, names_the_largest_that_stand_at_each_time) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    DrawnTrace drawn(seed);
    const Trace trace = drawn.sketch.build();
    const Known known(trace);
    for (const DeviceMemory& device : known.devices) {
      const std::vector<UsedBlock>& blocks = known.blocks.at(device.device);
      const std::vector<MemoryPoint> levels = thinned(device.levels, 20);
      const auto largest = largest_at(levels, blocks, 3);
      ASSERT_EQ(largest.size(), levels.size());
      for (std::size_t i = 0; i < levels.size(); ++i) {
        std::vector<std::int64_t> expected, found;
        for (const Drawn& each : drawn.standing(device.device, levels[i].time)) expected.push_back(each.bytes);
        std::ranges::sort(expected, std::greater{});
        if (expected.size() > 3) expected.resize(3);
        for (const std::size_t block : largest[i]) found.push_back(blocks[block].bytes);
        EXPECT_EQ(found, expected) << seed << ' ' << levels[i].time;
      }
    }
  }
}

TEST(MemoryPeak, has_what_was_there_before_the_trace_by_its_frees) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "op", 0, 100);
  sketch.allocate(thread, 10, 50, 0, 1);
  sketch.allocate(thread, 20, -300, 0, 9);
  const Trace trace = sketch.build();
  const Known known(trace);
  EXPECT_EQ(by_use(known.at(trace, 15)).at(MemoryUse::kBefore), 300);
  EXPECT_EQ(known.at(trace, 15).placed, 50);
  EXPECT_FALSE(by_use(known.at(trace, 25)).contains(MemoryUse::kBefore));
}

// The forward pass makes one block that the backward pass frees and one that it frees itself; the backward pass makes
// a gradient; the optimizer makes its state.
TEST(MemoryPeak, says_at_any_time_what_memory_is_for) {
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
  const Known known(trace);
  using Bytes = std::map<MemoryUse, std::int64_t>;
  using enum MemoryUse;
  EXPECT_EQ(by_use(known.at(trace, 35)), (Bytes{{kActivations, 1}, {kTemporaries, 10}}));
  EXPECT_EQ(by_use(known.at(trace, 225)), (Bytes{{kActivations, 1}, {kGradients, 100}, {kTemporaries, 1000}}));
  EXPECT_EQ(by_use(known.at(trace, 450)), (Bytes{{kGradients, 100}, {kOptimizerState, 10'000}}));
}

TEST(MemoryPeak, tells_modules_and_lines_also_of_what_runs_backward) {
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
  const MemoryPeak found = Known(trace).at(trace, 400);
  EXPECT_EQ(by_name(found.modules), (std::map<std::string, std::int64_t>{{"Linear_0", 11}}));
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.lines.front().source->file, "train.py");
  EXPECT_EQ(found.lines.front().source->line, 7);
  EXPECT_EQ(found.modules.front().blocks, 2);
  for (const EventId example : {found.modules.front().example, found.lines.front().example, found.tensors[0].event})
    EXPECT_EQ(trace.name(example), "MmBackward0");
}

TEST(MemoryPeak, knows_how_much_stands_there_beyond_what_is_listed) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int i = 0; i < 300; ++i) sketch.op(thread, "op" + std::to_string(i), 10 * i, 10 * i + 8);
  for (int i = 0; i < 300; ++i) sketch.allocate(thread, 10 * i + 4, i + 1, 0, static_cast<std::uint64_t>(i));
  const Trace trace = sketch.build();
  const MemoryPeak found = Known(trace).at(trace, 5000);
  ASSERT_EQ(found.operators.size(), 50u);
  EXPECT_EQ(sum_of(found.operators), 300 * 301 / 2 - 250 * 251 / 2);
  EXPECT_EQ(found.placed, 300 * 301 / 2);
}

TEST(MemoryTimeline, knows_what_was_asked_for_at_each_time) {
  Trace trace;
  std::map<DeviceId, std::map<Nanoseconds, std::int64_t>> expected;  // by time: what stands from then on
  std::map<DeviceId, std::int64_t> asked_for;
  const auto add = [&](DeviceId device, AllocatorAction action, std::uint64_t address, std::int64_t bytes) {
    const auto time = static_cast<Nanoseconds>(10 * trace.allocator_events.size());
    trace.allocator_events.push_back(
        {.time = time, .address = address, .bytes = bytes, .device = device, .action = action});
    if (action == AllocatorAction::kAllocate) asked_for[device] += bytes;
    if (action == AllocatorAction::kFreeCompleted) asked_for[device] -= bytes;
    expected[device][time] = asked_for[device];
  };
  for (const DeviceId device : {0, 1}) add(device, AllocatorAction::kSegmentAllocate, 1 << 20, 2 << 20);
  for (int i = 0; i < 20; ++i)
    add(i % 2, AllocatorAction::kAllocate, static_cast<std::uint64_t>((1 << 20) + 4096 * (i / 2)), 100 + i);
  for (int i = 0; i < 20; ++i)
    add(i % 2, AllocatorAction::kFreeCompleted, static_cast<std::uint64_t>((1 << 20) + 4096 * (i / 2)), 100 + i);
  std::vector<MemoryPoint> levels;
  for (Nanoseconds time = -5; time < 500; time += 7) levels.push_back({.time = time});
  for (const DeviceId device : {0, 1}) {
    const std::vector<std::int64_t> found = requested_at(trace, device, levels);
    ASSERT_EQ(found.size(), levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto behind = expected[device].upper_bound(levels[i].time);
      EXPECT_EQ(found[i], behind == expected[device].begin() ? 0 : std::prev(behind)->second) << levels[i].time;
    }
  }
  EXPECT_TRUE(requested_at(trace, 2, levels).empty());
}

}  // namespace
}  // namespace telltale
