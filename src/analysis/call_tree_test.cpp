#include "analysis/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

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

// What each event is adopted by, with a look at all steps for each: the first that it is inside of, of those before it.
std::vector<EventId> slowly_adopted(const Trace& trace) {
  const Events& events = trace.events;
  std::vector<EventId> parent = events.parent;
  for (EventId event = 0; event < events.size(); ++event) {
    if (parent[event] != kNoEvent) continue;
    for (const Step& step : trace.steps) {
      const bool is_before = events.track[step.event] == events.track[event] && step.event < event;
      const bool is_around =
          events.start[event] < events.end(step.event) && events.end(event) <= events.end(step.event);
      if (!is_before || !is_around) continue;
      parent[event] = step.event;
      break;
    }
  }
  return parent;
}

TEST(CallTree, steps_that_overlap_adopt_what_the_first_of_them_contains) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    TraceSketch sketch;
    const TrackId threads[] = {sketch.thread("one"), sketch.thread("two")};
    std::vector<TraceSketch::Handle> steps;
    for (int i = 0; i < 30; ++i) {
      const auto start = static_cast<Nanoseconds>(random() % 60), end = start + static_cast<Nanoseconds>(random() % 25);
      const bool is_step = random() % 3 == 0;
      const auto event = is_step ? sketch.event(threads[i % 2], Kind::kAnnotation, "ProfilerStep#1", start, end)
                                 : sketch.op(threads[i % 2], "aten::mm", start, end);
      if (is_step) steps.push_back(event);
    }
    Trace trace = sketch.build();
    trace.lanes.append(0, 1);  // something overlaps
    for (const auto step : steps) {
      const EventId event = sketch.id(step);
      trace.steps.push_back({1, event, trace.events.start[event], trace.events.duration[event]});
    }
    std::ranges::sort(trace.steps, {}, [](const Step& step) { return std::pair(step.start, step.event); });
    EXPECT_EQ(call_tree(trace, {{Kind::kOperator, Kind::kAnnotation}}).parent, slowly_adopted(trace));
  }
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
