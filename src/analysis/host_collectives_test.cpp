#include "analysis/host_collectives.h"

#include <gtest/gtest.h>

#include <utility>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

using Pieces = std::vector<std::pair<Interval, bool>>;

Pieces pieces_of(const HostCollectives& collectives, Interval when, EventId innermost) {
  Pieces pieces;
  collectives.cut(when, innermost, [&](Interval piece, bool waits) { pieces.emplace_back(piece, waits); });
  return pieces;
}

TEST(HostCollectives, are_known_by_their_backend) {
  EXPECT_TRUE(is_host_collective("gloo:all_reduce"));
  EXPECT_TRUE(is_host_collective("mpi:barrier"));
  EXPECT_FALSE(is_host_collective("nccl:all_reduce"));
  EXPECT_FALSE(is_host_collective("my gloo:all_reduce"));
}

TEST(HostCollectives, a_call_that_shows_nothing_waits_while_they_run) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), gloo = sketch.thread("pt_gloo_runloop");
  const auto backward = sketch.event(main, Kind::kPython, "<built-in method run_backward of E object>", 0, 100);
  sketch.event(gloo, Kind::kAnnotation, "gloo:all_reduce", 20, 40);
  sketch.event(gloo, Kind::kAnnotation, "gloo:all_reduce", 30, 50);
  sketch.event(gloo, Kind::kAnnotation, "gloo:broadcast", 90, 120);
  const Trace trace = sketch.build();
  const HostCollectives collectives(trace);
  EXPECT_EQ(collectives.events().size(), 3);
  EXPECT_EQ(pieces_of(collectives, {0, 100}, sketch.id(backward)),
            (Pieces{{{0, 20}, false}, {{20, 50}, true}, {{50, 90}, false}, {{90, 100}, true}}));
  EXPECT_EQ(pieces_of(collectives, {25, 35}, kNoEvent), (Pieces{{{25, 35}, true}}));
  EXPECT_EQ(pieces_of(collectives, {50, 60}, kNoEvent), (Pieces{{{50, 60}, false}}));
}

TEST(HostCollectives, what_computes_or_sleeps_does_not_wait_for_them) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main"), gloo = sketch.thread("pt_gloo_runloop");
  const auto mm = sketch.op(main, "aten::mm", 0, 10);
  const auto python = sketch.event(main, Kind::kPython, "train.py(3): augment", 10, 20);
  const auto sleep = sketch.event(main, Kind::kPython, "<waits for sleep>", 20, 30);
  const auto lock = sketch.event(main, Kind::kPython, "<waits for lock>", 30, 40);
  sketch.event(gloo, Kind::kAnnotation, "gloo:all_reduce", 0, 100);
  const Trace trace = sketch.build();
  const HostCollectives collectives(trace);
  EXPECT_FALSE(collectives.may_wait_in(sketch.id(mm)));
  EXPECT_FALSE(collectives.may_wait_in(sketch.id(python)));
  EXPECT_FALSE(collectives.may_wait_in(sketch.id(sleep)));
  EXPECT_TRUE(collectives.may_wait_in(sketch.id(lock)));
}

TEST(HostCollectives, without_any_nothing_waits) {
  TraceSketch sketch;
  const auto call = sketch.event(sketch.thread("main"), Kind::kPython, "<built-in function len>", 0, 10);
  const Trace trace = sketch.build();
  const HostCollectives collectives(trace);
  EXPECT_TRUE(collectives.empty());
  EXPECT_EQ(pieces_of(collectives, {0, 10}, sketch.id(call)), (Pieces{{{0, 10}, false}}));
}

}  // namespace
}  // namespace telltale
