#include "memory/memory_leaks.h"

#include <gtest/gtest.h>

#include <deque>

#include "analysis/host_work.h"
#include "analysis/testing/trace_sketch.h"
#include "memory/memory_causes.h"

namespace telltale {
namespace {

constexpr std::int64_t kBytes = 4096;

// Ten steps of 1,000 ns. Each allocates a block at line 7; `keep` says how many of them live at once in a step.
MemoryCauses causes_of(const std::function<std::int64_t(int step)>& keep, int steps = 10) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  std::deque<std::uint64_t> kept;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = 1000 * step;
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), begin, begin + 1000);
    const auto op = sketch.op(thread, "aten::mm", begin + 100, begin + 200);
    sketch.set_call_stack(op, "train.py(7): step;train.py(20): main");
    const auto address = static_cast<std::uint64_t>(step + 1);
    sketch.allocate(thread, begin + 150, kBytes, kHost, address);
    kept.push_back(address);
    for (Nanoseconds at = begin + 500; std::ssize(kept) > keep(step); ++at) {
      sketch.allocate(thread, at, -kBytes, kHost, kept.front());
      kept.pop_front();
    }
  }
  const Trace trace = sketch.build();
  return memory_causes(trace, step_timing(trace), phase_by_event(trace, host_work_by_event(trace)));
}

TEST(MemoryLeaks, what_every_step_leaves_behind_grows_by_it) {
  const MemoryCauses causes = causes_of([](int) { return 100; });
  ASSERT_EQ(causes.leaks.size(), 1);
  EXPECT_EQ(causes.leaks[0].source, (SourceLine{"train.py", 7, "step"}));
  EXPECT_DOUBLE_EQ(causes.leaks[0].bytes_per_step, kBytes);
  EXPECT_EQ(causes.leaks[0].bytes, 10 * kBytes);
  EXPECT_EQ(causes.leaks[0].made_by, "aten::mm");
}

TEST(MemoryLeaks, what_every_other_step_leaves_behind_grows_by_half) {
  const MemoryCauses causes = causes_of([](int step) { return (step + 2) / 2; });
  ASSERT_EQ(causes.leaks.size(), 1);
  EXPECT_NEAR(causes.leaks[0].bytes_per_step, kBytes / 2, kBytes / 10);
}

TEST(MemoryLeaks, a_buffer_of_the_newest_and_a_cache_that_is_full_are_none) {
  EXPECT_TRUE(causes_of([](int) { return 3; }).leaks.empty());
  EXPECT_TRUE(causes_of([](int) { return 1; }).leaks.empty());
  EXPECT_TRUE(causes_of([](int) { return 0; }).leaks.empty());
  EXPECT_TRUE(causes_of([](int) { return 5; }).leaks.empty());
}

TEST(MemoryLeaks, three_steps_say_nothing) {
  EXPECT_TRUE(causes_of([](int) { return 100; }, 3).leaks.empty());
}

TEST(MemoryLeaks, calls_of_the_model_stand_for_steps_where_there_are_none) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int call = 0; call < 6; ++call) {
    const Nanoseconds begin = 1000 * call;
    sketch.event(thread, Kind::kModule, "nn.Module: Sequential_0", begin, begin + 900);
    sketch.event(thread, Kind::kModule, "nn.Module: Linear_" + std::to_string(call), begin + 10, begin + 800);
    const auto op = sketch.op(thread, "aten::mm", begin + 100, begin + 200);
    sketch.set_call_stack(op, "model.py(3): forward;main.py(9): main");
    sketch.allocate(thread, begin + 150, kBytes, kHost, static_cast<std::uint64_t>(call + 1));
  }
  const Trace trace = sketch.build();
  const auto blocks = used_blocks(trace, kHost, phase_by_event(trace, host_work_by_event(trace)));
  const auto leaks = memory_leaks(trace, kHost, blocks, {.source = StepSource::kWhole}, 0);
  ASSERT_EQ(leaks.size(), 1);
  EXPECT_EQ(leaks[0].source, (SourceLine{"model.py", 3, "forward"}));
  EXPECT_DOUBLE_EQ(leaks[0].bytes_per_step, kBytes);
  EXPECT_TRUE(leaks[0].is_per_call);
}

// Steps of 1,000 ns; the resident size is read every `interval` ns and is what `size` says then.
std::vector<MemoryLeak> resident_leaks_of(int steps, Nanoseconds interval,
                                          const std::function<double(Nanoseconds)>& size) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int step = 0; step < steps; ++step) {
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), 1000 * step, 1000 * (step + 1));
    sketch.op(thread, "aten::mm", 1000 * step + 100, 1000 * step + 200);
  }
  for (Nanoseconds time = 0; time < 1000 * steps; time += interval) sketch.count("resident memory", time, size(time));
  const Trace trace = sketch.build();
  return resident_leaks(trace, step_timing(trace));
}

TEST(MemoryLeaks, a_process_that_grows_is_told_by_the_step_however_seldom_it_is_read) {
  constexpr double kPerStep = 16.0 * 1024 * 1024;
  const auto grows = [](Nanoseconds time) { return kPerStep * static_cast<double>(time) / 1000; };
  for (const Nanoseconds interval : {500, 1000, 4000}) {
    const auto leaks = resident_leaks_of(80, interval, grows);
    ASSERT_EQ(leaks.size(), 1) << interval;
    EXPECT_NEAR(leaks[0].bytes_per_step, kPerStep, 0.05 * kPerStep) << interval;
    EXPECT_EQ(leaks[0].made_by, "resident memory");
  }
  // Of 20 short steps there are five readings: a process that starts looks like that.
  EXPECT_TRUE(resident_leaks_of(20, 4000, grows).empty());
  EXPECT_TRUE(resident_leaks_of(80, 1000, [](Nanoseconds) { return 1e9; }).empty());
}

TEST(MemoryPeak, is_when_most_is_allocated_and_adds_up) {
  const MemoryCauses causes = causes_of([](int) { return 3; });
  ASSERT_EQ(causes.devices.size(), 1);
  const MemoryPeak& peak = causes.devices[0].peak;
  // Three are kept, and the fourth is made before the oldest goes.
  EXPECT_EQ(peak.allocated, 4 * kBytes);
  EXPECT_EQ(peak.time, 3150);
  EXPECT_EQ(peak.at_operator, "aten::mm");
  EXPECT_EQ(peak.source, (SourceLine{"train.py", 7, "step"}));
  std::int64_t by_use = 0, by_line = 0, by_size = 0;
  for (const UseBytes& row : peak.uses) by_use += row.bytes;
  for (const LineBytes& row : peak.lines) by_line += row.bytes;
  for (const SizeBytes& row : peak.sizes) by_size += row.bytes;
  EXPECT_EQ(by_use, peak.allocated);
  EXPECT_EQ(by_line, peak.allocated);
  EXPECT_EQ(by_size, peak.allocated);
  EXPECT_EQ(peak.tensors.size(), 4);
}

TEST(MemoryTimeline, has_what_is_allocated_by_use_and_the_steps_that_differ) {
  const MemoryCauses causes = causes_of([](int step) { return step == 6 ? 0 : 2; });
  const MemoryTimeline& timeline = causes.devices[0].timeline;
  ASSERT_EQ(timeline.uses.size(), timeline.levels.size());
  for (std::size_t i = 0; i < timeline.levels.size(); ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : timeline.uses[i].bytes) sum += bytes;
    EXPECT_EQ(sum, timeline.levels[i].allocated) << i;
  }
  ASSERT_EQ(timeline.steps.size(), 10);
  EXPECT_EQ(timeline.steps[5].peak, 3 * kBytes);
  EXPECT_EQ(timeline.steps[5].minimum, 2 * kBytes);
  EXPECT_FALSE(timeline.steps[5].differs);
  EXPECT_EQ(timeline.steps[7].peak, kBytes);
  EXPECT_TRUE(timeline.steps[7].differs);
}

}  // namespace
}  // namespace telltale
