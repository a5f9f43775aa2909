#include "analysis/call_tree.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr KindSet kOperators = {Kind::kOperator};

TEST(CallTree, skips_kinds_that_are_not_asked_for) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto outer = sketch.op(main, "outer", 0, 100);
  const auto frame = sketch.event(main, Kind::kPython, "f", 10, 90);
  const auto inner = sketch.op(main, "inner", 20, 80);
  const Trace trace = sketch.build();

  const CallTree tree = call_tree(trace, {kOperators});
  EXPECT_EQ(tree.parent[sketch.id(inner)], sketch.id(outer));
  EXPECT_EQ(tree.parent[sketch.id(frame)], sketch.id(outer));
  EXPECT_EQ(tree.parent[sketch.id(outer)], kNoEvent);
  EXPECT_FALSE(tree.is_call[sketch.id(frame)]);
  EXPECT_TRUE(tree.is_call[sketch.id(inner)]);
}

TEST(CallTree, a_step_across_functions_contains_what_they_called) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kPython, "train_step", 0, 100);
  const auto before = sketch.op(main, "aten::mm", 10, 80);
  const auto step = sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 90, 190);
  const auto second = sketch.event(main, Kind::kPython, "train_step", 100, 200);
  const auto outer = sketch.op(main, "aten::linear", 110, 150);
  const auto inner = sketch.op(main, "aten::addmm", 120, 140);
  const auto across = sketch.op(main, "aten::relu", 180, 195);
  Trace trace = sketch.build();
  trace.lanes.append(sketch.id(step), 1);  // as it overlaps the first function

  const CallTree tree = call_tree(trace, {{Kind::kOperator, Kind::kAnnotation}});
  EXPECT_EQ(tree.parent[sketch.id(outer)], sketch.id(step));
  EXPECT_EQ(tree.parent[sketch.id(inner)], sketch.id(outer));
  EXPECT_EQ(tree.parent[sketch.id(before)], kNoEvent);
  EXPECT_EQ(tree.parent[sketch.id(across)], kNoEvent);
  EXPECT_EQ(tree.parent[sketch.id(second)], kNoEvent);
  // With the functions in the tree, it stands beside them.
  EXPECT_EQ(call_tree(trace, {{Kind::kOperator, Kind::kAnnotation, Kind::kPython}}).parent[sketch.id(outer)],
            sketch.id(second));
}

TEST(CallTree, folds_an_only_child_of_the_same_name_as_torch_does) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto outer = sketch.op(main, "aten::conv2d", 0, 100);
  const auto middle = sketch.op(main, "aten::conv2d", 10, 90);
  const auto inner = sketch.op(main, "aten::conv2d", 20, 80);
  const Trace trace = sketch.build();

  const CallTree tree = call_tree(trace, {kOperators, true});
  EXPECT_FALSE(tree.is_folded[sketch.id(outer)]);
  EXPECT_TRUE(tree.is_folded[sketch.id(middle)]);
  EXPECT_TRUE(tree.is_folded[sketch.id(inner)]);
  EXPECT_FALSE(call_tree(trace, {kOperators}).is_folded[sketch.id(middle)]);
}

TEST(CallTree, does_not_fold_a_child_that_has_siblings_or_another_name) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.op(main, "aten::conv2d", 0, 100);
  sketch.op(main, "aten::to", 5, 8);
  const auto sibling = sketch.op(main, "aten::conv2d", 10, 90);
  sketch.op(main, "aten::linear", 200, 300);
  const auto renamed = sketch.op(main, "aten::addmm", 210, 290);
  const Trace trace = sketch.build();

  const CallTree tree = call_tree(trace, {kOperators, true});
  EXPECT_FALSE(tree.is_folded[sketch.id(sibling)]);
  EXPECT_FALSE(tree.is_folded[sketch.id(renamed)]);
}

TEST(CallTree, leaves_out_the_marks_that_torch_leaves_out) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  const auto mark = sketch.op(main, "profiler::_record_function_enter_new", 0, 10);
  const Trace trace = sketch.build();
  EXPECT_FALSE(call_tree(trace, {kOperators, true}).is_call[sketch.id(mark)]);
  EXPECT_TRUE(call_tree(trace, {kOperators}).is_call[sketch.id(mark)]);
}

}  // namespace

}  // namespace telltale
