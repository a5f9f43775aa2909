#include "analysis/host_activity.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/testing/random_calls.h"
#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

//   worker  |batch: 10 .. 50, layer in it 15 .. 30 and 32 .. 42|  idle  |batch: 70 .. 90|
//   clients         |enqueue: 20 .. 22|
struct Server {
  TraceSketch sketch;
  TrackId worker = sketch.thread("worker"), clients = sketch.thread("clients");
  TraceSketch::Handle first = sketch.event(worker, Kind::kAnnotation, "batch", 10, 50);

  Server() {
    sketch.event(worker, Kind::kAnnotation, "layer", 15, 30);
    sketch.event(worker, Kind::kAnnotation, "layer", 32, 42);
    sketch.event(worker, Kind::kAnnotation, "batch", 70, 90);
    sketch.event(clients, Kind::kAnnotation, "enqueue", 20, 22);
  }
};

TEST(ThreadActivity, divides_each_thread_among_its_scopes) {
  Server server;
  const Trace trace = server.sketch.build();
  const HostActivity host = host_activity(trace, {0, 100});
  EXPECT_EQ(host.window_ns, 100);
  ASSERT_EQ(host.threads.size(), 2u);
  const ThreadActivity& worker = host.threads[0];
  EXPECT_EQ(worker.name, "worker");
  EXPECT_EQ(worker.busy_ns, 40 + 20);
  EXPECT_DOUBLE_EQ(host.busy_percent(worker), 60);
  ASSERT_EQ(worker.scopes.size(), 2u);
  EXPECT_EQ(worker.scopes[0].name, "batch");
  EXPECT_EQ(worker.scopes[0].own_ns, (40 - 25) + 20);
  EXPECT_EQ(worker.scopes[0].calls, 2);
  EXPECT_EQ(worker.scopes[0].longest, server.sketch.id(server.first));
  EXPECT_EQ(worker.scopes[1].name, "layer");
  EXPECT_EQ(worker.scopes[1].own_ns, 15 + 10);
  EXPECT_EQ(host.threads[1].name, "clients");
  EXPECT_EQ(host.threads[1].busy_ns, 2);
}

TEST(ThreadActivity, counts_only_what_lies_in_the_window) {
  Server server;
  const Trace trace = server.sketch.build();
  const HostActivity host = host_activity(trace, {25, 80});
  ASSERT_EQ(host.threads.size(), 1u) << "clients have nothing there";
  EXPECT_EQ(host.threads[0].busy_ns, (50 - 25) + (80 - 70));
  EXPECT_EQ(host.threads[0].scopes[0].name, "batch");
  EXPECT_EQ(host.threads[0].scopes[0].calls, 1) << "the first one began before";
  EXPECT_EQ(host.threads[0].scopes[1].own_ns, (30 - 25) + 10);
}

TEST(ThreadActivity, takes_no_mark_of_a_step_for_work) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#0", 0, 100);
  sketch.event(main, Kind::kAnnotation, "forward", 20, 50);
  const Trace trace = sketch.build();
  const HostActivity host = host_activity(trace, {0, 100});
  ASSERT_EQ(host.threads.size(), 1u);
  EXPECT_EQ(host.threads[0].busy_ns, 30);
  EXPECT_EQ(host.threads[0].scopes.size(), 1u);
  EXPECT_EQ(busy_times(trace, main, step_marks(trace)), (std::vector<Interval>{{20, 50}}));
}

TEST(ThreadActivity, leaves_out_what_is_no_thread) {
  TraceSketch sketch;
  sketch.event(sketch.stream(0, 7), Kind::kKernel, "gemm", 0, 10);
  sketch.event(sketch.async_spans(), Kind::kAsync, "request", 0, 10);
  sketch.event(sketch.thread("CUPTI overhead"), Kind::kOverhead, "Buffer Flush", 0, 10);
  EXPECT_TRUE(host_activity(sketch.build(), {0, 10}).threads.empty());
}

TEST(ThreadActivity, of_an_empty_window_is_nothing) {
  Server server;
  const HostActivity host = host_activity(server.sketch.build(), {0, 0});
  EXPECT_TRUE(host.threads.empty());
  EXPECT_DOUBLE_EQ(host.busy_percent({}), 0);
}

// The oracle asks of every instant whether some event is open then.
TEST(ThreadActivity, agrees_with_looking_at_every_instant) {
  constexpr Nanoseconds kHorizon = 80;
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    TraceSketch sketch;
    const TrackId main = sketch.thread("main");
    add_random_calls(sketch, main, 1 + round % 12, kHorizon, random);
    const Trace trace = sketch.build();
    const Interval window = random_window(kHorizon, random);
    const HostActivity host = host_activity(trace, window);
    const std::vector<Interval> times = clipped(busy_times(trace, main, step_marks(trace)), window);
    Nanoseconds busy = 0, own = 0;
    for (Nanoseconds at = window.begin; at < window.end; ++at)
      for (EventId event = 0; event < trace.events.size(); ++event)
        if (trace.events.start[event] <= at && at < trace.events.end(event)) {
          ++busy;
          break;
        }
    ASSERT_EQ(total_length(times), busy) << "round " << round;
    if (host.threads.empty()) {
      const bool is_of_recorder =
          std::ranges::all_of(trace.events.kind, [](Kind kind) { return kind == Kind::kOverhead; });
      ASSERT_TRUE(busy == 0 || is_of_recorder) << "round " << round;
      continue;
    }
    for (const ScopeTime& scope : host.threads[0].scopes) own += scope.own_ns;
    ASSERT_EQ(host.threads[0].busy_ns, busy) << "round " << round;
    ASSERT_EQ(own, busy);
  }
}

// 2 from 10 to 20, 6 from 20 to 50, 0 from there on.
Trace queue() {
  TraceSketch sketch;
  sketch.event(sketch.thread("main"), Kind::kAnnotation, "work", 0, 100);
  sketch.count("queue", 10, 2);
  sketch.count("queue", 20, 6);
  sketch.count("queue", 50, 0);
  return sketch.build();
}

TEST(CounterSummary, weighs_values_by_how_long_they_hold) {
  const auto summaries = counter_summaries(queue(), {0, 100});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].name, "queue");
  EXPECT_EQ(summaries[0].series, "value");
  EXPECT_EQ(summaries[0].values, 3);
  EXPECT_DOUBLE_EQ(summaries[0].minimum, 0);
  EXPECT_DOUBLE_EQ(summaries[0].maximum, 6);
  EXPECT_DOUBLE_EQ(summaries[0].last, 0);
  EXPECT_DOUBLE_EQ(summaries[0].mean, (2.0 * 10 + 6.0 * 30 + 0.0 * 50) / 90) << "nothing is known before 10";
}

TEST(CounterSummary, begins_a_window_with_the_value_set_before_it) {
  const auto summaries = counter_summaries(queue(), {30, 60});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].values, 1);
  EXPECT_DOUBLE_EQ(summaries[0].maximum, 6);
  EXPECT_DOUBLE_EQ(summaries[0].mean, (6.0 * 20 + 0.0 * 10) / 30);
}

TEST(CounterSummary, leaves_out_counters_without_a_value_in_the_window) {
  EXPECT_TRUE(counter_summaries(queue(), {25, 45}).empty());
  EXPECT_TRUE(counter_summaries(queue(), {0, 5}).empty());
  EXPECT_TRUE(counter_summaries(Trace{}, {0, 5}).empty());
}

TEST(CounterSummary, keeps_counters_apart) {
  TraceSketch sketch;
  sketch.count("a", 0, 1);
  sketch.count("a", 5, 3);
  sketch.count("b", 0, -7.5);
  const auto summaries = counter_summaries(sketch.build(), {0, 10});
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_DOUBLE_EQ(summaries[0].mean, 2);
  EXPECT_DOUBLE_EQ(summaries[1].minimum, -7.5);
  EXPECT_DOUBLE_EQ(summaries[1].mean, -7.5);
}

TEST(CounterSummary, of_a_single_moment_is_its_value) {
  TraceSketch sketch;
  sketch.count("a", 10, 4);
  const auto summaries = counter_summaries(sketch.build(), {0, 10});
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_DOUBLE_EQ(summaries[0].mean, 4);
}

}  // namespace

}  // namespace telltale
