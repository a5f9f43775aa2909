#include "memory/memory_leaks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "analysis/host_work.h"
#include "analysis/testing/trace_sketch.h"
#include "memory/memory_causes.h"

namespace telltale {
namespace {

constexpr std::int64_t kBytes = 4096;

// Ten steps of 1,000 ns. Each allocates a block at line 7; `keep` says how many of them live at once in a step.
MemoryCauses causes_of(const std::function<std::int64_t(int step)>& keep, int steps = 10,
                       std::string_view referrers = {}) {
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
  const auto last = sketch.op(thread, "aten::mm", 1000 * steps + 100, 1000 * steps + 200);
  sketch.set_call_stack(last, "train.py(7): step;train.py(20): main");
  sketch.allocate(thread, 1000 * steps + 150, kBytes, kHost, 100);
  Trace trace = sketch.build();
  if (!referrers.empty()) trace.metadata.push_back({"referrers", std::string(referrers)});
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

// Of the block of a step, the category is its own until that step ends. The eleventh is made behind the last step.
TEST(MemoryLeaks, what_they_left_is_told_apart_at_the_peak_and_over_time) {
  const MemoryCauses causes = causes_of([](int) { return 100; });
  const DeviceCauses& host = causes.devices.at(0);
  EXPECT_EQ(host.peak.allocated, 11 * kBytes);
  const auto left = std::ranges::find(host.peak.uses, MemoryUse::kLeftBehind, &UseBytes::use);
  ASSERT_NE(left, host.peak.uses.end());
  EXPECT_EQ(left->bytes, 10 * kBytes);
  EXPECT_EQ(left->blocks, 10);
  for (const UsesAt& at : host.timeline.uses) {
    const std::int64_t steps_before = std::max<std::int64_t>(0, (at.time - 1) / 1000);
    EXPECT_EQ(at.bytes[static_cast<std::size_t>(MemoryUse::kLeftBehind)], steps_before * kBytes) << at.time;
  }
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

// One block of an earlier step is there from the ninth step on, and of another program from the third and the sixth:
// once or twice is no growth from step to step, though half of all pairs of steps differ.
TEST(MemoryLeaks, what_rises_once_or_twice_is_none) {
  EXPECT_TRUE(causes_of([](int step) { return step < 8 ? 1 : 2; }, 12).leaks.empty());
  EXPECT_TRUE(causes_of([](int step) { return step < 2 ? 1 : step < 5 ? 2 : 3; }, 8).leaks.empty());
}

// It warms up until the sixth step, and rises once behind the middle.
TEST(MemoryLeaks, what_rises_once_in_the_second_half_is_none) {
  EXPECT_TRUE(causes_of([](int step) { return step < 6 ? step : step < 12 ? 6 : 7; }, 16).leaks.empty());
}

TEST(MemoryLeaks, are_kept_by_what_keeps_one_of_their_tensors) {
  const auto keep_all = [](int) { return 100; };
  const auto kept_by = [&](std::string_view referrers) {
    const MemoryCauses causes = causes_of(keep_all, 10, referrers);
    return causes.leaks.at(0).kept_by;
  };
  EXPECT_EQ(kept_by(R"([{"address":99,"chain":["another"]},{"address":3,"chain":["Tensor","variable 'kept'"]}])"),
            (std::vector<std::string>{"Tensor", "variable 'kept'"}));
  EXPECT_EQ(kept_by("[]"), std::vector<std::string>());
  // What the line makes behind the last step is in no step.
  EXPECT_EQ(kept_by(R"([{"address":100,"chain":["Tensor","variable 'cache'"]}])"),
            (std::vector<std::string>{"Tensor", "variable 'cache'"}));
  EXPECT_FALSE(kept_by(""));
}

TEST(MemoryPeak, says_who_keeps_what_is_there_at_the_end) {
  const auto kept = [](std::int64_t newest, std::uint64_t address) {
    const std::string referrers = fmt::format(R"([{{"address":{},"chain":["Tensor","variable 'kept'"]}}])", address);
    std::size_t count = 0;
    const MemoryCauses causes = causes_of([=](int) { return newest; }, 10, referrers);
    for (const PeakTensor& tensor : causes.devices.at(0).peak.tensors) {
      EXPECT_EQ(tensor.kept_by.has_value(), tensor.address == address && newest > 3) << tensor.address;
      count += tensor.kept_by.has_value();
    }
    return count;
  };
  EXPECT_EQ(kept(100, 3), 1);
  // The fourth stands at the peak and is gone three steps later: what is found at its address is another tensor.
  EXPECT_EQ(kept(3, 4), 0);
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
    ASSERT_TRUE(leaks[0].process);
    EXPECT_EQ(leaks[0].process->child, "");
    EXPECT_FALSE(leaks[0].process->is_loader_worker);
  }
  // Of 20 short steps there are five readings: a process that starts looks like that.
  EXPECT_TRUE(resident_leaks_of(20, 4000, grows).empty());
  EXPECT_TRUE(resident_leaks_of(80, 1000, [](Nanoseconds) { return 1e9; }).empty());
}

// What an evaluation of twelve batches recorded, in MiB: its tensors stay as they are, and malloc takes more and more
// before it finds room in what was freed.
TEST(MemoryLeaks, a_process_that_grows_more_slowly_the_longer_it_runs_warms_up) {
  constexpr double kSizes[] = {309, 325, 357, 389, 405, 421, 421, 421, 437, 437, 453, 453};
  const auto size = [&](Nanoseconds time) { return kSizes[time / 1000] * 1024 * 1024; };
  EXPECT_TRUE(resident_leaks_of(12, 1000, size).empty());
}

// 1 MB per step, of which tensors that leak on the host explain some.
TEST(MemoryLeaks, growth_of_the_process_that_its_tensors_explain_is_not_told_twice) {
  const auto found = [](double tensors_per_step) {
    TraceSketch sketch;
    const TrackId thread = sketch.thread("main");
    for (int step = 0; step < 100; ++step) {
      sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), 1000 * step, 1000 * (step + 1));
      sketch.op(thread, "aten::mm", 1000 * step + 100, 1000 * step + 200);
      sketch.count("resident memory", 1000 * step, 1e6 * (step + 1));
    }
    const Trace trace = sketch.build();
    return resident_leaks(trace, step_timing(trace), tensors_per_step);
  };
  ASSERT_EQ(found(0).size(), 1);
  // What is left, 90 MB over all steps and 50 MB, is more than 64 MiB and less.
  ASSERT_EQ(found(0.1e6).size(), 1);
  EXPECT_NEAR(found(0.1e6)[0].bytes_per_step, 1e6, 1e4);
  EXPECT_TRUE(found(0.5e6).empty());
  EXPECT_TRUE(found(1.2e6).empty());
}

// What a transformer recorded in eight steps, in MiB: the highest of each, as they stand shortly before its end, and
// the lowest. malloc keeps more of what is freed from step to step, until it has enough.
TEST(MemoryLeaks, what_comes_and_goes_within_steps_is_no_growth_of_the_process) {
  constexpr double kHighest[] = {704, 890, 917, 911, 869, 914, 947, 911};
  constexpr double kLowest[] = {224, 654, 815, 887, 869, 869, 887, 887};
  // Read three times per step, the last time at its end.
  const auto highest = [&](Nanoseconds time) { return kHighest[time / 1000] * 1024 * 1024; };
  const auto size = [&](Nanoseconds time) {
    return time % 1000 < 500 ? kLowest[time / 1000] * 1024 * 1024 : highest(time);
  };
  EXPECT_TRUE(resident_leaks_of(8, 333, size).empty());
  EXPECT_EQ(resident_leaks_of(8, 333, highest).size(), 1);  // the last of each alone looks like one
}

TEST(MemoryLeaks, a_child_that_grows_is_named_and_is_a_worker_where_a_loader_has_as_many) {
  const auto found = [](std::string_view loaders, std::string_view ids = {}) {
    TraceSketch sketch;
    const TrackId thread = sketch.thread("main");
    for (int step = 0; step < 80; ++step) {
      sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), 1000 * step, 1000 * (step + 1));
      sketch.op(thread, "aten::mm", 1000 * step + 100, 1000 * step + 200);
      sketch.count("resident memory", 1000 * step, 1e6 * (step + 1));
    }
    Trace trace = sketch.build();
    trace.counters.series[0].series = trace.strings.intern("process 1234");
    trace.metadata.push_back({"loader_workers", std::string(loaders)});
    if (!ids.empty()) trace.metadata.push_back({"loader_worker_ids", std::string(ids)});
    return resident_leaks(trace, step_timing(trace));
  };
  const auto worker = found(R"([{"workers":1}])"), child = found(R"([{"workers":0}])");
  ASSERT_EQ(worker.size(), 1);
  ASSERT_TRUE(worker[0].process);
  EXPECT_EQ(worker[0].process->child, "process 1234");
  EXPECT_TRUE(worker[0].process->is_loader_worker);
  ASSERT_EQ(child.size(), 1);
  EXPECT_FALSE(child[0].process->is_loader_worker);
  // Workers that are spawned have a helper of Python's beside them; which processes they are is known then.
  EXPECT_TRUE(found(R"([{"workers":0}])", "[1233,1234]")[0].process->is_loader_worker);
  EXPECT_FALSE(found(R"([{"workers":1}])", "[1233,234]")[0].process->is_loader_worker);
}

// Line 7 makes a large tensor that it keeps, by one operator, and a small one by another, last.
TEST(MemoryLeaks, are_made_by_the_operator_of_most_of_their_bytes) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (int step = 0; step < 6; ++step) {
    const Nanoseconds begin = 1000 * step;
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), begin, begin + 1000);
    const auto large = sketch.op(thread, "aten::zeros", begin + 100, begin + 200);
    const auto small = sketch.op(thread, "aten::sum", begin + 300, begin + 400);
    for (const auto op : {large, small}) sketch.set_call_stack(op, "train.py(7): step;train.py(20): main");
    sketch.allocate(thread, begin + 150, 64 * kBytes, kHost, static_cast<std::uint64_t>(2 * step + 1));
    sketch.allocate(thread, begin + 350, 64, kHost, static_cast<std::uint64_t>(2 * step + 2));
  }
  const Trace trace = sketch.build();
  const auto leaks = memory_causes(trace, step_timing(trace), phase_by_event(trace, host_work_by_event(trace))).leaks;
  ASSERT_EQ(leaks.size(), 1);
  EXPECT_EQ(leaks[0].made_by, "aten::zeros");
  EXPECT_EQ(trace.name(leaks[0].example), "aten::zeros");
}

// As the current batch where batches grow: each step makes a larger one, and lets go of that of the step before.
TEST(MemoryLeaks, what_the_next_step_replaces_is_none_even_if_it_grows) {
  for (const std::uint64_t kept : {1, 2}) {
    TraceSketch sketch;
    const TrackId thread = sketch.thread("main");
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = 1000 * step;
      const auto size = [](int of) { return kBytes * (of + 1); };
      const auto address = static_cast<std::uint64_t>(step + 1);
      sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), begin, begin + 1000);
      const auto op = sketch.op(thread, "aten::randn", begin + 100, begin + 200);
      sketch.set_call_stack(op, "train.py(7): step;train.py(20): main");
      sketch.allocate(thread, begin + 150, size(step), kHost, address);
      if (address > kept)
        sketch.allocate(thread, begin + 250, -size(step - static_cast<int>(kept)), kHost, address - kept);
    }
    const Trace trace = sketch.build();
    const auto phases = phase_by_event(trace, host_work_by_event(trace));
    EXPECT_TRUE(memory_causes(trace, step_timing(trace), phases).leaks.empty()) << kept;
  }
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

TEST(MemoryTimeline, says_whether_peaks_rise) {
  EXPECT_TRUE(causes_of([](int) { return 100; }).devices[0].timeline.peaks_rise);
  EXPECT_FALSE(causes_of([](int) { return 3; }).devices[0].timeline.peaks_rise);
  EXPECT_FALSE(causes_of([](int) { return 100; }, 3).devices[0].timeline.peaks_rise);
}

TEST(MemoryTimeline, names_the_largest_at_each_of_its_times) {
  const MemoryTimeline timeline = causes_of([](int) { return 2; }).devices[0].timeline;
  ASSERT_EQ(timeline.largest.size(), timeline.levels.size());
  for (std::size_t i = 0; i < timeline.levels.size(); ++i)
    EXPECT_EQ(std::ssize(timeline.largest[i]) * kBytes, timeline.levels[i].allocated) << i;
  for (const PeakTensor& tensor : timeline.tensors) EXPECT_EQ(tensor.made_by, "aten::mm");
}

}  // namespace
}  // namespace telltale
