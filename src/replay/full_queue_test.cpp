#include "replay/full_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "replay/testing/replayed_program.h"

namespace telltale {
namespace {

using Handle = TraceSketch::Handle;

// A host that needs 5 µs for a launch and kernels of 100 µs, on a driver that holds so many launches: a launch returns
// when the one that is `capacity` before it has begun.
struct LongQueue {
  static constexpr Nanoseconds kLaunch = 5 * kMicrosecond, kKernel = 100 * kMicrosecond;
  TraceSketch sketch;
  TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  std::vector<Handle> calls, kernels;
  std::vector<Nanoseconds> begins;
  Nanoseconds now = 0, device_end = 0;

  // Launched before the trace begins.
  void launched_before(int count) {
    for (int i = 0; i < count; ++i) {
      begins.push_back(device_end);
      sketch.event(stream, Kind::kKernel, "kernel", device_end, device_end + kKernel);
      device_end += kKernel;
    }
  }

  Nanoseconds room_at(std::size_t capacity) const {
    return begins.size() < capacity ? 0 : begins[begins.size() - capacity];
  }

  void launch(std::size_t capacity) {
    const Nanoseconds returns = std::max(now, room_at(capacity)) + kLaunch;
    calls.push_back(sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", now, returns));
    begins.push_back(std::max(device_end, returns));
    kernels.push_back(
        sketch.work(stream, Kind::kKernel, "kernel", begins.back(), begins.back() + kKernel, calls.back()));
    device_end = begins.back() + kKernel;
    now = returns;
  }

  // `launches` each.
  void steps(int count, int launches, std::size_t capacity) {
    for (int step = 0; step < count; ++step) {
      const Nanoseconds begin = now;
      for (int i = 0; i < launches; ++i) launch(capacity);
      sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(step), begin, now);
    }
  }
};

TEST(FullQueue, is_found_from_calls_that_are_long_at_one_depth) {
  LongQueue program;
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  const FullQueue queue(trace);
  EXPECT_EQ(queue.capacity(), 200);
  EXPECT_EQ(queue.own_time_of(program.sketch.id(program.calls[100])), nullptr);
  const Nanoseconds* own = queue.own_time_of(program.sketch.id(program.calls[900]));
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(*own, LongQueue::kLaunch);
}

TEST(FullQueue, counts_work_that_was_launched_before_the_trace_began) {
  LongQueue program;
  program.launched_before(190);
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  EXPECT_EQ(FullQueue(trace).capacity(), 200);
}

// Every call waits: then no call tells what a launch takes, and 10 µs is the most.
TEST(FullQueue, that_is_full_throughout_leaves_launches_their_usual_time) {
  LongQueue program;
  program.launched_before(200);
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  const FullQueue queue(trace);
  ASSERT_TRUE(queue.was_full());
  EXPECT_LE(*queue.own_time_of(program.sketch.id(program.calls[600])), 10 * kMicrosecond);
}

TEST(FullQueue, is_not_seen_where_launches_return_at_once) {
  LongQueue program;
  program.steps(3, 300, 100'000);
  const Trace trace = program.sketch.build();
  const FullQueue queue(trace);
  EXPECT_FALSE(queue.was_full());
  EXPECT_EQ(queue.capacity(), 1024);
}

TEST(FullQueue, is_not_blamed_for_a_few_calls_that_are_long_by_chance) {
  LongQueue program;
  program.steps(3, 300, 100'000);
  for (int i = 0; i < 3; ++i) {
    program.now += 300 * kMicrosecond;
    program.launch(100'000);
  }
  const Trace trace = program.sketch.build();
  EXPECT_FALSE(FullQueue(trace).was_full());
}

TEST(FullQueue, keeps_the_host_waiting_only_as_long_as_the_device_needs) {
  LongQueue program;
  program.launched_before(200);
  program.steps(3, 400, 200);
  const Trace trace = program.sketch.build();
  const auto period_at = [&](float factor) {
    return replayed_step(trace,
                         [&](const Trace&, Edit& edit) {
                           for (const Handle kernel : program.kernels)
                             edit.scale_event(trace, program.sketch.id(kernel), factor);
                         })
        .period;
  };
  EXPECT_NEAR(static_cast<double>(period_at(1)), 400 * LongQueue::kKernel, 0.01 * 400 * LongQueue::kKernel);
  EXPECT_NEAR(static_cast<double>(period_at(0.25F)), 400 * LongQueue::kKernel / 4, 0.01 * 400 * LongQueue::kKernel);
  // Now the host sets the pace: no faster than it launches, and a launch is known to take 10 µs at most.
  EXPECT_GE(period_at(0.01F), 400 * LongQueue::kLaunch);
  EXPECT_LE(period_at(0.01F), 400 * 10 * kMicrosecond);
}

// The host may be ahead by what the queue holds and no more: a host that pauses for longer than that much work leaves
// the device idle, however fast it launches.
TEST(FullQueue, bounds_how_far_the_host_runs_ahead) {
  ReplayedProgram program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    for (int i = 0; i < 2000; ++i) program.kernel(6 * kMicrosecond);
    program.run(Kind::kPython, "train.py(3): log", 40 * kMillisecond);
  }
  const auto slower = [&](const Trace& trace, Edit& edit) {
    for (EventId event = 0; event < trace.events.size(); ++event)
      if (trace.events.kind[event] == Kind::kKernel) edit.scale_event(trace, event, 4);
  };
  // Kernels of 24 µs and 1 µs between them: when the last of 2,000 is launched, 976 have begun, and the pause follows.
  const Nanoseconds expected = 976 * 25 * kMicrosecond + 40 * kMillisecond;
  EXPECT_NEAR(static_cast<double>(program.replayed(slower).period), static_cast<double>(expected), 0.01 * expected);
}

}  // namespace
}  // namespace telltale
