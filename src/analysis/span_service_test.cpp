#include "analysis/span_service.h"

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

}  // namespace
}  // namespace telltale
