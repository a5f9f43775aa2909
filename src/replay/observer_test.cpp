#include "replay/observer.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(ObserverCost, is_mostly_that_of_python_calls_where_they_are_recorded) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::mm", 0, 10);
  sketch.event(main, Kind::kPython, "train.py(3): step", 20, 30);
  const ObserverCost cost = observer_cost(sketch.build());
  EXPECT_GT(cost.python_call, cost.operator_call);
  EXPECT_GT(cost.python_call, cost.api_call);
}

TEST(ObserverCost, is_small_where_our_own_recorder_was_at_work) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::mm", 0, 10);
  sketch.event(main, Kind::kPython, "train.py(3): step", 20, 30);
  Trace trace = sketch.build();
  trace.metadata.emplace_back("recorded", R"({"shapes":false})");
  const ObserverCost cost = observer_cost(trace);
  EXPECT_EQ(cost.python_call, 75);
  EXPECT_EQ(cost.operator_call, 100);
  trace.recorded.shapes = true;
  EXPECT_EQ(observer_cost(trace).operator_call, 310);
}

TEST(ObserverCost, is_that_of_operators_and_calls_elsewhere) {
  TraceSketch sketch;
  sketch.op(sketch.thread("main"), "aten::mm", 0, 10);
  const ObserverCost cost = observer_cost(sketch.build());
  EXPECT_EQ(cost.python_call, 0);
  EXPECT_GT(cost.operator_call, 0);
  EXPECT_GT(cost.api_call, 0);
}

}  // namespace
}  // namespace telltale
