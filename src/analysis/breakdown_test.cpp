#include "analysis/breakdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "analysis/host_timeline.h"
#include "analysis/testing/random_calls.h"

namespace telltale {
namespace {

StepTiming timing_of(Interval window, double periods = 1) {
  StepTiming timing;
  timing.window = window;
  timing.periods = periods;
  return timing;
}

StepBreakdown breakdown_of(const Trace& trace, const StepTiming& timing) {
  return step_breakdown(trace, timing, host_work_by_event(trace));
}

Nanoseconds sum_of_parts(const StepBreakdown& breakdown) {
  return std::accumulate(breakdown.by_host_work.begin(), breakdown.by_host_work.end(), breakdown.busy_total());
}

Nanoseconds busy(const StepBreakdown& breakdown, WorkClass work) {
  return breakdown.busy[static_cast<std::size_t>(work)];
}
Nanoseconds idle(const StepBreakdown& breakdown, HostWork cause) {
  return breakdown.by_host_work[static_cast<std::size_t>(cause)];
}

// The oracle: one instant after the other, with all events looked at anew for each.
class Instants {
 public:
  Instants(const Trace& trace, Interval window)
      : trace_(trace),
        window_(window),
        host_work_(host_work_by_event(trace)),
        threads_(launching_threads(trace, window)) {
    for (EventId event = 0; event < trace.events.size(); ++event)
      if (is_device_work(trace.events.kind[event]) && trace.events.end(event) > window.begin) works_.push_back(event);
    std::ranges::stable_sort(works_, {}, [&](EventId event) { return trace.events.start[event]; });
    WorkClassifier class_of(trace);
    for (Nanoseconds time = window.begin; time < window.end; ++time) {
      if (const EventId work = work_at(time); work != kNoEvent)
        ++busy[static_cast<std::size_t>(class_of(work))];
      else
        ++idle[static_cast<std::size_t>(cause_at(time))];
    }
  }

  std::array<Nanoseconds, kWorkClassCount> busy{};
  std::array<Nanoseconds, kHostWorkCount> idle{};

 private:
  EventId work_at(Nanoseconds time) const {
    for (const EventId work : works_)
      if (trace_.events.start[work] <= time && time < trace_.events.end(work)) return work;
    return kNoEvent;
  }

  HostWork host_work_at(Nanoseconds time) const {
    EventId shown = kNoEvent;
    for (const TrackId thread : threads_) {
      EventId innermost = kNoEvent;
      for (EventId event = 0; event < trace_.events.size(); ++event)
        if (trace_.events.track[event] == thread && trace_.events.start[event] <= time &&
            time < trace_.events.end(event))
          innermost = event;
      if (activity(innermost) > activity(shown)) shown = innermost;
    }
    return shown == kNoEvent ? HostWork::kUnknown : host_work_[shown];
  }

  int activity(EventId event) const {
    if (event == kNoEvent) return 0;
    return host_work_[event] == HostWork::kPython || host_work_[event] == HostWork::kUnknown ? 1 : 2;
  }

  HostWork cause_at(Nanoseconds time) const {
    const auto next = std::ranges::find_if(works_, [&](EventId work) { return trace_.events.start[work] > time; });
    if (next != works_.end() && trace_.events.start[*next] < window_.end) {
      const EventId launch = trace_.launch_of(*next);
      if (launch != kNoEvent && trace_.events.start[launch] <= time)
        return host_work_[launch] == HostWork::kCopies ? HostWork::kCopies : HostWork::kLaunching;
    }
    Nanoseconds ran_dry = time;
    while (ran_dry > window_.begin && work_at(ran_dry - 1) == kNoEvent) --ran_dry;
    const HostWork work = host_work_at(time);
    const bool is_refill = work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching ||
                           work == HostWork::kUnknown;
    return is_refill && host_work_at(ran_dry) == HostWork::kSync ? HostWork::kSync : work;
  }

  const Trace& trace_;
  Interval window_;
  std::vector<HostWork> host_work_;
  std::vector<TrackId> threads_;
  std::vector<EventId> works_;
};

constexpr Nanoseconds kHorizon = 150;

Trace random_program(std::mt19937& random) {
  TraceSketch sketch;
  const std::array threads = {sketch.thread("main"), sketch.thread("autograd")};
  const std::array streams = {sketch.stream(0, 7), sketch.stream(0, 8)};
  constexpr std::array kNames = {"ampere_sgemm_128x64_tn", "vectorized_elementwise_kernel", "reduce_kernel"};
  for (const TrackId thread : threads) {
    const auto calls = add_random_calls(sketch, thread, 14, kHorizon, random);
    for (const auto call : calls) {
      if (std::uniform_int_distribution<int>(0, 2)(random) > 0) continue;
      const Nanoseconds start = std::uniform_int_distribution<int>(0, kHorizon)(random);
      const auto pick = std::uniform_int_distribution<std::size_t>(0, 5)(random);
      const auto work = sketch.event(streams[pick % 2], Kind::kKernel, kNames[pick % 3], start, start + 1 + 2 * pick);
      if (pick > 0) sketch.set_cause(work, call);
    }
  }
  return sketch.build();
}

TEST(StepBreakdown, agrees_with_every_single_instant) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = random_program(random);
    const Interval window = random_window(kHorizon, random);
    const StepBreakdown breakdown = breakdown_of(trace, timing_of(window));
    const Instants instants(trace, window);
    ASSERT_EQ(breakdown.busy, instants.busy) << "round " << round;
    ASSERT_EQ(breakdown.by_host_work, instants.idle) << "round " << round;
    ASSERT_EQ(breakdown.step, window.length());
    ASSERT_EQ(breakdown.idle_total(), breakdown.has_device ? breakdown.step - breakdown.busy_total() : 0);
  }
}

TEST(StepBreakdown, adds_up_to_the_step_exactly_whatever_rounding_leaves) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = random_program(random);
    const StepTiming timing = timing_of(random_window(kHorizon, random), 1 + round % 7);
    const StepBreakdown breakdown = breakdown_of(trace, timing);
    ASSERT_EQ(breakdown.step, timing.period());
    ASSERT_EQ(sum_of_parts(breakdown), breakdown.step);
    const Instants instants(trace, timing.window);
    for (std::size_t i = 0; i < breakdown.by_host_work.size(); ++i)
      ASSERT_NEAR(static_cast<double>(breakdown.by_host_work[i]),
                  static_cast<double>(instants.idle[i]) / timing.periods, 20);
  }
}

TEST(StepBreakdown, gaps_cover_the_idle_time_in_order_and_neighbors_differ) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    const Trace trace = random_program(random);
    const Interval window = random_window(kHorizon, random);
    const StepBreakdown breakdown = breakdown_of(trace, timing_of(window));
    Nanoseconds total = 0;
    const IdleGap* before = nullptr;
    for (const IdleGap& gap : breakdown.gaps) {
      ASSERT_GT(gap.when.length(), 0);
      total += gap.when.length();
      if (before != nullptr) {
        ASSERT_LE(before->when.end, gap.when.begin);
        const bool is_one = before->when.end == gap.when.begin && before->cause == gap.cause &&
                            before->next == gap.next && before->blamed == gap.blamed;
        ASSERT_FALSE(is_one);
      }
      before = &gap;
    }
    ASSERT_EQ(total, breakdown.step - breakdown.busy_total());
  }
}

// A thread and a stream; a kernel runs from 0 to 100.
struct Program {
  TraceSketch sketch;
  TrackId main = sketch.thread("main"), stream = sketch.stream(0, 7);

  Program() { launch(0, 5, 10, 100); }
  TraceSketch::Handle call(std::string_view name, Nanoseconds start, Nanoseconds end, Kind kind = Kind::kRuntime) {
    return sketch.event(main, kind, name, start, end);
  }
  TraceSketch::Handle launch(Nanoseconds called, Nanoseconds returned, Nanoseconds start, Nanoseconds end) {
    return sketch.work(stream, Kind::kKernel, "gemm", start, end, call("cudaLaunchKernel", called, returned));
  }
};

TEST(StepBreakdown, a_gap_that_begins_in_a_wait_is_the_waits_up_to_the_next_launch) {
  Program program;
  const auto wait = program.call("cudaStreamSynchronize", 20, 102);
  program.call("train.py(7): prepare", 110, 140, Kind::kPython);
  const auto kernel = program.launch(150, 155, 158, 200);
  const Trace trace = program.sketch.build();
  const StepBreakdown breakdown = breakdown_of(trace, timing_of({10, 200}));
  EXPECT_EQ(idle(breakdown, HostWork::kSync), 50);
  EXPECT_EQ(idle(breakdown, HostWork::kLaunching), 8);
  EXPECT_EQ(busy(breakdown, WorkClass::kMatmul), 90 + 42);
  ASSERT_EQ(breakdown.gaps.size(), 2);
  EXPECT_EQ(breakdown.gaps[0].when, (Interval{100, 150}));
  EXPECT_EQ(breakdown.gaps[0].blamed, program.sketch.id(wait));
  EXPECT_EQ(breakdown.gaps[0].next, program.sketch.id(kernel));
  EXPECT_EQ(breakdown.gaps[1].when, (Interval{150, 158}));
}

TEST(StepBreakdown, loading_allocating_and_collecting_after_a_wait_stay_what_they_are) {
  Program program;
  program.call("cudaStreamSynchronize", 20, 102);
  program.call("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 102, 130, Kind::kAnnotation);
  program.call("aten::stack", 105, 125, Kind::kOperator);
  program.call("cudaMalloc", 130, 137);
  program.call("<built-in function collect>", 140, 145, Kind::kPython);
  program.launch(150, 155, 150, 200);
  const StepBreakdown breakdown = breakdown_of(program.sketch.build(), timing_of({10, 200}));
  EXPECT_EQ(idle(breakdown, HostWork::kDataLoading), 28);
  EXPECT_EQ(idle(breakdown, HostWork::kAllocator), 7);
  EXPECT_EQ(idle(breakdown, HostWork::kGarbageCollection), 5);
  EXPECT_EQ(idle(breakdown, HostWork::kSync), 50 - 28 - 7 - 5);
}

TEST(StepBreakdown, a_wait_that_finds_the_device_idle_is_not_to_blame_for_what_follows) {
  Program program;
  program.call("train.py(7): prepare", 20, 120, Kind::kPython);
  program.call("cudaStreamSynchronize", 120, 123);
  program.call("train.py(7): prepare", 123, 150, Kind::kPython);
  program.launch(150, 155, 150, 200);
  const StepBreakdown breakdown = breakdown_of(program.sketch.build(), timing_of({10, 200}));
  EXPECT_EQ(idle(breakdown, HostWork::kPython), 20 + 27);
  EXPECT_EQ(idle(breakdown, HostWork::kSync), 3);
}

// The device is busy until 100. Autograd's thread works from 105 to 110, and the thread that waits for it until 120.
TEST(StepBreakdown, a_wait_for_autograds_thread_is_the_hosts_side_of_operators) {
  for (const bool is_backward : {true, false}) {
    Program program;
    program.call("<waits for lock>", 20, 120, Kind::kPython);
    const auto op = program.sketch.op(program.sketch.thread("pt_autograd_0"), "MmBackward0", 105, 110);
    program.launch(120, 125, 130, 200);
    Trace trace = program.sketch.build();
    if (is_backward) {
      OperatorInfo info;
      info.forward_thread = 1;
      trace.operators.append(program.sketch.id(op), info);
    }
    const StepBreakdown breakdown = breakdown_of(trace, timing_of({10, 200}));
    EXPECT_EQ(idle(breakdown, HostWork::kWaiting), is_backward ? 0 : 20);
    EXPECT_EQ(idle(breakdown, HostWork::kOperators), is_backward ? 20 : 0);
  }
}

TEST(StepBreakdown, two_waits_in_one_gap_each_answer_for_their_own_time) {
  Program program;
  const auto first = program.call("cudaStreamSynchronize", 20, 102);
  const auto second = program.call("cudaStreamSynchronize", 110, 113);
  program.launch(150, 155, 150, 200);
  const Trace trace = program.sketch.build();
  const StepBreakdown breakdown = breakdown_of(trace, timing_of({10, 200}));
  ASSERT_EQ(breakdown.gaps.size(), 3);
  EXPECT_EQ(breakdown.gaps[0].blamed, program.sketch.id(first));
  EXPECT_EQ(breakdown.gaps[1].blamed, program.sketch.id(second));
  EXPECT_EQ(breakdown.gaps[1].when, (Interval{110, 113}));
  EXPECT_EQ(breakdown.gaps[2].blamed, program.sketch.id(first));
}

TEST(StepBreakdown, the_time_from_the_call_of_a_copy_to_the_copy_is_a_copys) {
  Program program;
  const auto call = program.call("cudaMemcpyAsync", 120, 130);
  program.sketch.work(program.stream, Kind::kMemcpy, "Memcpy HtoD", 140, 160, call);
  const StepBreakdown breakdown = breakdown_of(program.sketch.build(), timing_of({10, 160}));
  EXPECT_EQ(idle(breakdown, HostWork::kCopies), 20);
  EXPECT_EQ(idle(breakdown, HostWork::kUnknown), 20);
  EXPECT_EQ(busy(breakdown, WorkClass::kCopy), 20);
}

TEST(StepBreakdown, parts_of_one_cause_are_one_gap_that_blames_what_took_longest) {
  Program program;
  program.call("train.py(1): step", 8, 200, Kind::kPython);
  const auto longest = program.call("train.py(7): prepare", 110, 180, Kind::kPython);
  const Trace trace = program.sketch.build();
  const StepBreakdown breakdown = breakdown_of(trace, timing_of({10, 200}));
  ASSERT_EQ(breakdown.gaps.size(), 1);
  EXPECT_EQ(breakdown.gaps[0].when, (Interval{100, 200}));
  EXPECT_EQ(breakdown.gaps[0].blamed, program.sketch.id(longest));
  EXPECT_EQ(breakdown.gaps[0].next, kNoEvent);
}

TEST(StepBreakdown, work_that_overlaps_counts_once_for_what_began_first) {
  Program program;
  const TrackId other = program.sketch.stream(0, 8);
  program.sketch.event(other, Kind::kKernel, "reduce_kernel", 50, 120);
  const StepBreakdown breakdown = breakdown_of(program.sketch.build(), timing_of({10, 120}));
  EXPECT_EQ(busy(breakdown, WorkClass::kMatmul), 90);
  EXPECT_EQ(busy(breakdown, WorkClass::kReduction), 20);
  EXPECT_EQ(breakdown.idle_total(), 0);
}

TEST(StepBreakdown, work_without_duration_ends_a_gap_and_takes_no_time) {
  Program program;
  const auto empty = program.sketch.event(program.stream, Kind::kKernel, "gemm", 130, 130);
  const Trace trace = program.sketch.build();
  const StepBreakdown breakdown = breakdown_of(trace, timing_of({10, 150}));
  EXPECT_EQ(breakdown.busy_total(), 90);
  ASSERT_EQ(breakdown.gaps.size(), 2);
  EXPECT_EQ(breakdown.gaps[0].next, program.sketch.id(empty));
  EXPECT_EQ(breakdown.gaps[0].when, (Interval{100, 130}));
}

TEST(StepBreakdown, is_about_the_device_with_the_most_work) {
  Program program;
  const TrackId other = program.sketch.stream(3, 7);
  program.sketch.event(other, Kind::kKernel, "reduce_kernel", 0, 300);
  const StepBreakdown breakdown = breakdown_of(program.sketch.build(), timing_of({0, 300}));
  EXPECT_TRUE(breakdown.has_device);
  EXPECT_EQ(breakdown.device, 3);
  EXPECT_EQ(busy(breakdown, WorkClass::kReduction), 300);
}

TEST(StepBreakdown, without_a_device_divides_the_busiest_thread) {
  TraceSketch sketch;
  sketch.thread("idle");
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "train.py(1): step", 0, 60);
  sketch.op(main, "aten::mm", 10, 50);
  const StepBreakdown breakdown = breakdown_of(sketch.build(), timing_of({0, 100}));
  EXPECT_FALSE(breakdown.has_device);
  EXPECT_EQ(breakdown.device, kHost);
  EXPECT_EQ(breakdown.thread, main);
  EXPECT_EQ(breakdown.busy_total(), 0);
  EXPECT_EQ(idle(breakdown, HostWork::kOperators), 40);
  EXPECT_EQ(idle(breakdown, HostWork::kPython), 20);
  EXPECT_EQ(idle(breakdown, HostWork::kUnknown), 40);
}

TEST(StepBreakdown, without_a_host_nothing_is_known_about_gaps) {
  TraceSketch sketch;
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(stream, Kind::kKernel, "gemm", 10, 30);
  const StepBreakdown breakdown = breakdown_of(sketch.build(), timing_of({0, 100}));
  EXPECT_EQ(busy(breakdown, WorkClass::kMatmul), 20);
  EXPECT_EQ(idle(breakdown, HostWork::kUnknown), 80);
}

TEST(StepBreakdown, has_parts_that_add_up_to_the_step_sorted_by_what_they_are) {
  StepBreakdown breakdown;
  breakdown.has_device = true;
  breakdown.step = 100;
  breakdown.busy[static_cast<std::size_t>(WorkClass::kMatmul)] = 20;
  breakdown.busy[static_cast<std::size_t>(WorkClass::kCopy)] = 25;
  breakdown.by_host_work[static_cast<std::size_t>(HostWork::kDataLoading)] = 5;
  breakdown.by_host_work[static_cast<std::size_t>(HostWork::kSync)] = 50;
  std::vector<std::string> categories;
  Nanoseconds sum = 0;
  for (const BreakdownPart& part : breakdown.parts()) {
    categories.push_back(part.category());
    sum += part.ns;
  }
  EXPECT_EQ(categories, (std::vector<std::string>{"copy", "matmul", "idle_sync", "idle_data_loading"}));
  EXPECT_EQ(sum, 100);
  EXPECT_DOUBLE_EQ(breakdown.parts()[1].percent, 20);
  EXPECT_FALSE(breakdown.parts()[1].is_idle);
  EXPECT_TRUE(breakdown.parts()[2].is_idle);
  EXPECT_DOUBLE_EQ(breakdown.busy_percent(), 45);
  EXPECT_DOUBLE_EQ(breakdown.idle_percent(), 55);
}

TEST(StepBreakdown, without_a_device_has_nothing_idle) {
  StepBreakdown breakdown;
  breakdown.step = 10;
  breakdown.by_host_work[static_cast<std::size_t>(HostWork::kPython)] = 2;
  breakdown.by_host_work[static_cast<std::size_t>(HostWork::kOperators)] = 8;
  const std::vector<BreakdownPart> parts = breakdown.parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].category(), "operators");
  EXPECT_FALSE(parts[0].is_idle);
  EXPECT_EQ(parts[1].category(), "python");
  EXPECT_EQ(breakdown.idle_total(), 0);
}

TEST(StepBreakdown, of_nothing_is_nothing) {
  const StepBreakdown breakdown = breakdown_of(TraceSketch().build(), timing_of({0, 0}));
  EXPECT_FALSE(breakdown.has_device);
  EXPECT_EQ(breakdown.step, 0);
  EXPECT_EQ(sum_of_parts(breakdown), 0);
  EXPECT_TRUE(breakdown.gaps.empty());
}

}  // namespace
}  // namespace telltale
