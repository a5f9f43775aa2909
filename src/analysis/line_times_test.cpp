// Against sums by hand, and against source_line() asked for each event by itself.
#include "analysis/line_times.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "analysis/call_stacks.h"
#include "analysis/testing/program_sketch.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

using Place = std::tuple<std::string, int, std::string>;
struct Times {
  Nanoseconds host = 0, device = 0;
  bool operator==(const Times&) const = default;
};

std::map<Place, Times> by_place(const LineTimes& times) {
  std::map<Place, Times> found;
  for (const LineTime& line : times.lines)
    found[{line.source.file, line.source.line, line.source.function}] = {line.host_ns, line.device_ns};
  return found;
}

// Asks for each event by itself, and takes from its time what each other event takes that it calls.
std::map<Place, Times> by_asking(const Trace& trace, const StepTiming& timing) {
  const Interval window{timing.steps.front().host.begin, timing.steps.back().host.end};
  const auto inside = [&](EventId event) {
    return total_length(clipped({{trace.events.start[event], trace.events.end(event)}}, window));
  };
  std::map<Place, Times> sums;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const auto line = source_line(trace, event);
    if (!line) continue;
    Times& times = sums[{line->file, line->line, line->function}];
    if (is_device_work(trace.events.kind[event])) {
      const EventId launch = trace.events.cause[event];
      const bool counts =
          launch != kNoEvent && trace.events.start[launch] >= window.begin && trace.events.start[launch] < window.end;
      if (counts) times.device += trace.events.duration[event];
      continue;
    }
    if (is_on_device(trace.events.kind[event]) || is_left_open(trace, event)) continue;
    times.host += inside(event);
    for (EventId other = event + 1; other < trace.events.size(); ++other)
      if (!is_left_open(trace, other) && caller_of(trace, other) == event) times.host -= inside(other);
  }
  const Nanoseconds steps = std::ssize(timing.steps);
  for (auto& [place, times] : sums) times = {times.host / steps, times.device / steps};
  std::erase_if(sums, [](const auto& each) { return each.second == Times{}; });
  return sums;
}

TEST(LineTimes, count_what_libraries_do_for_a_line_and_what_it_launches) {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(10): step");
    program.spend(3 * kMillisecond);
    program.open(Kind::kPython, "torch/nn/functional.py(7): linear");
    program.spend(1 * kMillisecond);
    program.kernel("aten::linear", 6 * kMillisecond);
    program.close();
    program.run(Kind::kPython, "model.py(5): loss", 2 * kMillisecond);
    program.close();
  }
  const Trace trace = program.build();
  const LineTimes times = line_times(trace, step_timing(trace));
  ASSERT_EQ(times.lines.size(), 2u);
  EXPECT_EQ(times.lines[0].source, (SourceLine{"train.py", 10, "step"}));
  EXPECT_EQ(times.lines[0].host_ns, 4 * kMillisecond + ProgramSketch::kLaunch);
  EXPECT_EQ(times.lines[0].device_ns, 6 * kMillisecond);
  EXPECT_EQ(times.lines[0].calls, 2);
  EXPECT_EQ(times.lines[1].source, (SourceLine{"model.py", 5, "loss"}));
  EXPECT_EQ(times.lines[1].host_ns, 2 * kMillisecond);
  EXPECT_EQ(times.device_elsewhere_ns, 0);
}

TEST(LineTimes, count_only_what_is_inside_of_the_steps) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "train.py(1): main", 0, 1000);
  for (int step = 0; step < 2; ++step)
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), 100 + step * 200, 300 + step * 200);
  sketch.event(thread, Kind::kPython, "model.py(2): forward", 350, 400);
  const Trace trace = sketch.build();
  const auto found = by_place(line_times(trace, step_timing(trace)));
  // Of [100, 500), 50 are the model's.
  EXPECT_EQ((found.at({"train.py", 1, "main"})), (Times{350 / 2, 0}));
  EXPECT_EQ((found.at({"model.py", 2, "forward"})), (Times{50 / 2, 0}));
}

TEST(LineTimes, of_a_comprehension_are_those_of_the_function_it_stands_in) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "train.py(1): main", 0, 100);
  sketch.event(thread, Kind::kPython, "train.py(3): <listcomp>", 10, 40);
  sketch.event(thread, Kind::kPython, "data.py(4): <genexpr>", 50, 60);
  const Trace trace = sketch.build();
  const auto found = by_place(line_times(trace, step_timing(trace)));
  EXPECT_EQ(found, by_asking(trace, step_timing(trace)));
  EXPECT_EQ((found.at({"train.py", 1, "main"}).host), 90);
  EXPECT_EQ((found.at({"data.py", 4, "<genexpr>"}).host), 10);
}

TEST(LineTimes, are_those_that_each_event_tells_by_itself) {
  const std::vector<std::string> names = {"train.py(1): main",       "torch/nn/module.py(9): call",
                                          "model.py(5): run",        "model.py(6): <listcomp>",
                                          "<built-in function len>", "lib/python3.11/os.py(2): f"};
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    TraceSketch sketch;
    const TrackId threads[] = {sketch.thread("main"), sketch.thread("backward")};
    const TrackId stream = sketch.stream(0, 7);
    std::vector<TraceSketch::Handle> ops;
    const auto draw = [&](auto& self, TrackId thread, Nanoseconds begin, Nanoseconds end, int depth) -> void {
      while (depth > 0 && end - begin > 20) {
        const Nanoseconds start = begin + below(10), stop = start + 8 + below(static_cast<int>(end - start - 8));
        if (below(3) == 0) {
          ops.push_back(sketch.op(thread, "aten::op", start, stop));
          if (below(2) == 0)
            sketch.set_call_stack(ops.back(), "torch/f.py(1): g;model.py(8): <dictcomp>;model.py(7): h");
          if (thread == threads[1] && below(2) == 0)
            sketch.set_cause(ops.back(), ops[static_cast<std::size_t>(below(static_cast<int>(ops.size())))]);
          if (below(2) == 0) sketch.work(stream, Kind::kKernel, "kernel", start, stop, ops.back());
        } else {
          sketch.event(thread, Kind::kPython, names[static_cast<std::size_t>(below(static_cast<int>(names.size())))],
                       start, stop);
        }
        self(self, thread, start, stop, depth - 1);
        begin = stop;
      }
    };
    for (int step = 0; step < 3; ++step)
      sketch.event(threads[0], Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), step * 300, (step + 1) * 300);
    for (const TrackId thread : threads) draw(draw, thread, 0, 1000, 5);
    const Trace trace = sketch.build();
    EXPECT_EQ(by_place(line_times(trace, step_timing(trace))), by_asking(trace, step_timing(trace))) << seed;
  }
}

TEST(LineTimes, without_stacks_are_none) {
  ProgramSketch program;
  program.begin_step();
  program.kernel("aten::mm", kMillisecond);
  const Trace trace = program.build();
  const LineTimes times = line_times(trace, step_timing(trace));
  EXPECT_TRUE(times.lines.empty());
  EXPECT_EQ(times.device_elsewhere_ns, kMillisecond);
}

}  // namespace
}  // namespace telltale
