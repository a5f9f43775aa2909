#include "analysis/span_latency.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

class SpanService : public testing::Test {
 protected:
  using Handle = TraceSketch::Handle;

  Handle scope(TrackId track, std::string_view name, Nanoseconds start, Nanoseconds end) {
    return sketch_.event(track, Kind::kAnnotation, name, start, end);
  }
  Handle request(Nanoseconds start, Nanoseconds end) {
    return sketch_.event(spans_, Kind::kAsync, "request", start, end);
  }

  TraceSketch sketch_;
  TrackId clients_ = sketch_.thread("clients"), others_ = sketch_.thread("other clients");
  TrackId worker_ = sketch_.thread("worker"), helper_ = sketch_.thread("helper"), spans_ = sketch_.async_spans();
};

TEST_F(SpanService, is_by_what_the_arrow_leads_to) {
  const Handle enqueue = scope(clients_, "enqueue", 10, 12), batch = scope(worker_, "batch", 30, 50);
  scope(worker_, "layer", 32, 48);
  sketch_.flow(enqueue, batch);
  const Handle span = request(11, 49);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(span)), sketch_.id(batch));
}

TEST_F(SpanService, of_many_in_one_batch_is_the_same) {
  const Handle one = scope(clients_, "enqueue", 10, 12), two = scope(clients_, "enqueue", 14, 16);
  const Handle batch = scope(worker_, "batch", 30, 50);
  sketch_.flow(one, batch);
  sketch_.flow(two, batch);
  const Handle first = request(11, 49), second = request(15, 49);
  const Trace trace = sketch_.build();
  const SpanServices services(trace);
  EXPECT_EQ(services.served_by(sketch_.id(first)), sketch_.id(batch));
  EXPECT_EQ(services.served_by(sketch_.id(second)), sketch_.id(batch));
}

// Both clients enqueue when the second request begins, and both batches run when it ends.
TEST_F(SpanService, is_told_by_the_arrow_that_left_last) {
  const Handle one = scope(clients_, "enqueue", 10, 20), two = scope(others_, "enqueue", 12, 18);
  const Handle batch = scope(worker_, "batch", 30, 50), other_batch = scope(helper_, "batch", 31, 51);
  sketch_.flow(one, batch);
  sketch_.flow(two, other_batch);
  const Handle first = request(11, 49), second = request(13, 48);
  const Trace trace = sketch_.build();
  const SpanServices services(trace);
  EXPECT_EQ(services.served_by(sketch_.id(first)), sketch_.id(batch));
  EXPECT_EQ(services.served_by(sketch_.id(second)), sketch_.id(other_batch));
}

TEST_F(SpanService, may_end_before_the_answer_is_sent) {
  const Handle enqueue = scope(clients_, "enqueue", 10, 12), batch = scope(worker_, "batch", 30, 50);
  sketch_.flow(enqueue, batch);
  const Handle span = request(11, 70);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(span)), sketch_.id(batch));
}

TEST_F(SpanService, is_unknown_when_several_could_have_served) {
  const Handle loop = scope(clients_, "accept", 0, 100);
  sketch_.flow(loop, scope(worker_, "batch", 30, 40));
  sketch_.flow(loop, scope(worker_, "batch", 50, 60));
  const Handle span = request(11, 70);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(span)), kNoEvent);
}

TEST_F(SpanService, in_a_long_scope_is_told_by_where_the_span_ends) {
  const Handle loop = scope(clients_, "accept", 0, 100);
  sketch_.flow(loop, scope(worker_, "batch", 30, 40));
  const Handle second = scope(worker_, "batch", 50, 60);
  sketch_.flow(loop, second);
  const Handle span = request(11, 55);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(span)), sketch_.id(second));
}

TEST_F(SpanService, is_unknown_without_an_arrow_or_with_one_from_elsewhere) {
  sketch_.flow(scope(clients_, "enqueue", 20, 22), scope(worker_, "batch", 30, 50));
  const Handle before = request(11, 49);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(before)), kNoEvent);
}

// A worker's whole loop as one scope says nothing of when it turned to the request.
TEST_F(SpanService, does_not_begin_before_the_span) {
  sketch_.flow(scope(clients_, "enqueue", 10, 12), scope(worker_, "loop", 0, 100));
  const Handle span = request(11, 49);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(span)), kNoEvent);
}

TEST_F(SpanService, leads_from_thread_to_thread) {
  const Handle enqueue = scope(clients_, "enqueue", 10, 12);
  sketch_.flow(enqueue, sketch_.event(sketch_.stream(0, 7), Kind::kKernel, "gemm", 20, 30));
  const Handle span = request(11, 25);
  const Trace trace = sketch_.build();
  EXPECT_EQ(SpanServices(trace).served_by(sketch_.id(span)), kNoEvent);
}

constexpr Interval kAlways = {0, 1'000'000};

TEST(SpanLatency, gives_percentiles_by_the_nearest_rank) {
  TraceSketch sketch;
  const TrackId spans = sketch.async_spans();
  for (Nanoseconds i = 1; i <= 200; ++i) sketch.event(spans, Kind::kAsync, "request", 1000 * i, 1000 * i + 10 * i);
  const auto latencies = span_latencies(sketch.build(), kAlways);
  ASSERT_EQ(latencies.size(), 1u);
  const SpanLatency& request = latencies[0];
  EXPECT_EQ(request.name, "request");
  EXPECT_TRUE(request.is_async);
  EXPECT_EQ(request.count, 200);
  EXPECT_EQ(request.p50_ns, 1000) << "the 100th of 200";
  EXPECT_EQ(request.p90_ns, 1800);
  EXPECT_EQ(request.p99_ns, 1980);
  EXPECT_EQ(request.max_ns, 2000);
  EXPECT_EQ(request.total_ns, 10 * 200 * 201 / 2);
  EXPECT_FALSE(request.waiting) << "no arrow leads anywhere";
}

TEST(SpanLatency, of_one_span_is_its_duration) {
  TraceSketch sketch;
  const auto only = sketch.event(sketch.async_spans(), Kind::kAsync, "load", 5, 12);
  const auto latencies = span_latencies(sketch.build(), kAlways);
  ASSERT_EQ(latencies.size(), 1u);
  EXPECT_EQ(latencies[0].p50_ns, 7);
  EXPECT_EQ(latencies[0].p99_ns, 7);
  EXPECT_EQ(latencies[0].longest, sketch.id(only));
}

TEST(SpanLatency, counts_spans_without_an_end_apart) {
  TraceSketch sketch;
  const TrackId spans = sketch.async_spans();
  sketch.event(spans, Kind::kAsync, "request", 0, 10);
  sketch.event(spans, Kind::kAsync, "request", 20, 20);
  const auto latencies = span_latencies(sketch.build(), kAlways);
  ASSERT_EQ(latencies.size(), 1u);
  EXPECT_EQ(latencies[0].count, 1);
  EXPECT_EQ(latencies[0].unfinished, 1);
  EXPECT_EQ(latencies[0].p50_ns, 10);
}

TEST(SpanLatency, has_scopes_at_the_top_of_threads_that_come_again) {
  TraceSketch sketch;
  const TrackId one = sketch.thread("worker 0"), two = sketch.thread("worker 1");
  for (const Nanoseconds start : {0, 100}) {
    sketch.event(one, Kind::kAnnotation, "batch", start, start + 20);
    sketch.event(one, Kind::kAnnotation, "layer", start, start + 10);
    sketch.event(one, Kind::kAnnotation, "rare", start + 50, start + 60);
  }
  sketch.event(two, Kind::kAnnotation, "batch", 40, 70);
  sketch.event(two, Kind::kOperator, "aten::mm", 80, 90);
  const auto latencies = span_latencies(sketch.build(), kAlways);
  ASSERT_EQ(latencies.size(), 1u) << "layers are inside, two are too few, an operator is none";
  EXPECT_EQ(latencies[0].name, "batch");
  EXPECT_FALSE(latencies[0].is_async);
  EXPECT_EQ(latencies[0].count, 3);
  EXPECT_EQ(latencies[0].p50_ns, 20);
  EXPECT_EQ(latencies[0].max_ns, 30);
}

TEST(SpanLatency, looks_through_marks_of_steps) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  for (int i = 0; i < 3; ++i) {
    sketch.event(main, Kind::kAnnotation, "ProfilerStep#" + std::to_string(i), 100 * i, 100 * i + 100);
    sketch.event(main, Kind::kAnnotation, "forward", 100 * i + 10, 100 * i + 60);
  }
  const auto latencies = span_latencies(sketch.build(), kAlways);
  ASSERT_EQ(latencies.size(), 1u);
  EXPECT_EQ(latencies[0].name, "forward");
  EXPECT_EQ(latencies[0].p50_ns, 50);
}

TEST(SpanLatency, takes_what_begins_in_the_window) {
  TraceSketch sketch;
  const TrackId spans = sketch.async_spans();
  for (const Nanoseconds start : {0, 100, 200}) sketch.event(spans, Kind::kAsync, "request", start, start + 150);
  const auto latencies = span_latencies(sketch.build(), {50, 200});
  ASSERT_EQ(latencies.size(), 1u);
  EXPECT_EQ(latencies[0].count, 1);
}

TEST(SpanLatency, ranks_requests_before_scopes_and_each_by_their_time) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), spans = sketch.async_spans();
  for (const Nanoseconds start : {0, 1000, 2000}) {
    sketch.event(main, Kind::kAnnotation, "long", start, start + 500);
    sketch.event(main, Kind::kAnnotation, "short", start + 600, start + 650);
  }
  sketch.event(spans, Kind::kAsync, "small", 0, 10);
  sketch.event(spans, Kind::kAsync, "large", 0, 20);
  std::vector<std::string> names;
  for (const SpanLatency& latency : span_latencies(sketch.build(), kAlways)) names.push_back(latency.name);
  EXPECT_EQ(names, (std::vector<std::string>{"large", "small", "long", "short"}));
}

// Two requests and two workers, from 0 to 100:
//
//   clients   |enqueue 0–2|    |enqueue 10–12|
//   worker 0  |batch 5–8|                 |batch 40–60, serves the first|
//   worker 1  |batch 6–70            |            |batch 80–90, serves the second|
//   requests  1: from 1 to 58; waits 39, of which worker 0 is idle from 8 to 40
//             2: from 11 to 89; waits 69, of which worker 0 is idle from 11 to 40, worker 1 from 70 to 80
class Waiting : public testing::Test {
 protected:
  Waiting() {
    const auto scope = [&](TrackId track, std::string_view name, Nanoseconds start, Nanoseconds end) {
      return sketch_.event(track, Kind::kAnnotation, name, start, end);
    };
    const TrackId clients = sketch_.thread("clients"), zero = sketch_.thread("worker 0"),
                  one = sketch_.thread("worker 1");
    scope(zero, "batch", 5, 8);
    scope(one, "batch", 6, 70);
    sketch_.flow(scope(clients, "enqueue", 0, 2), scope(zero, "batch", 40, 60));
    sketch_.flow(scope(clients, "enqueue", 10, 12), scope(one, "batch", 80, 90));
    sketch_.event(spans_, Kind::kAsync, "request", 1, 58);
    sketch_.event(spans_, Kind::kAsync, "request", 11, 89);
    workers_ = {zero, one};
  }

  TraceSketch sketch_;
  TrackId spans_ = sketch_.async_spans();
  std::vector<TrackId> workers_;
};

TEST_F(Waiting, is_the_time_until_what_serves_begins) {
  const auto latencies = span_latencies(sketch_.build(), {0, 100});
  ASSERT_TRUE(latencies.at(0).waiting);
  const SpanWaiting& waiting = *latencies[0].waiting;
  EXPECT_EQ(waiting.spans, 2);
  EXPECT_EQ(waiting.total_ns, 57 + 78);
  EXPECT_EQ(waiting.waiting_ns, 39 + 69);
  EXPECT_DOUBLE_EQ(waiting.waiting_percent(), 100.0 * 108 / 135);
  EXPECT_EQ(waiting.p50_ns, 39);
  EXPECT_EQ(waiting.p99_ns, 69);
  EXPECT_EQ(waiting.served_in, "batch");
}

TEST_F(Waiting, tells_how_long_a_thread_was_idle_meanwhile) {
  const auto latencies = span_latencies(sketch_.build(), {0, 100});
  const SpanWaiting& waiting = latencies.at(0).waiting.value();
  EXPECT_EQ(waiting.threads, workers_);
  EXPECT_DOUBLE_EQ(waiting.busy_percent, 100.0 * (3 + 20 + 64 + 10) / 200);
  EXPECT_EQ(waiting.beside_idle_ns, (40 - 8) + (40 - 11) + (80 - 70)) << "worker 0 is gone after 60";
}

TEST_F(Waiting, counts_only_requests_of_which_it_is_known) {
  sketch_.event(spans_, Kind::kAsync, "request", 30, 35);
  const auto latencies = span_latencies(sketch_.build(), {0, 100});
  EXPECT_EQ(latencies.at(0).count, 3);
  EXPECT_EQ(latencies[0].waiting->spans, 2);
}

TEST(SpanLatency, of_an_empty_trace_is_nothing) { EXPECT_TRUE(span_latencies(Trace{}, {0, 0}).empty()); }

}  // namespace

}  // namespace telltale
