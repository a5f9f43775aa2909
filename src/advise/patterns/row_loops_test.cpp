#include "advise/patterns/row_loops.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr Nanoseconds kShort = 50 * kMicrosecond;

struct Turns {
  int count = 12;
  std::string_view taker = "aten::select";
  std::string_view shapes = {};                 // of the tensor that rows are taken from
  std::function<std::string(int)> row = {};     // the values of the taking operator's arguments
  std::function<std::string(int)> module = {};  // that each turn calls
};

// One step with a loop that takes a row and computes with it, and an operator on either side.
Trace looping(const Turns& turns) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kPython, "model.py(4): forward");
  program.kernel("aten::mm", kShort);
  for (int turn = 0; turn < turns.count; ++turn) {
    const auto taking = program.run(Kind::kOperator, turns.taker, kShort);
    if (!turns.shapes.empty()) program.sketch().set_inputs(taking, turns.shapes, turns.row ? turns.row(turn) : "");
    if (turns.module) program.open(Kind::kModule, turns.module(turn));
    program.kernel("aten::mul", kShort);
    if (turns.module) program.close();
  }
  program.kernel("aten::mm", kShort);
  return program.build();
}

std::size_t loops_in(const Turns& turns) { return KnownTrace(looping(turns)).facts.row_loops().size(); }

TEST(RowLoops, are_calls_in_a_row_that_each_begin_with_taking_a_row) {
  const KnownTrace known(looping({}));
  const std::vector<RowLoop>& loops = known.facts.row_loops();
  ASSERT_EQ(loops.size(), 1);
  EXPECT_EQ(known.trace.name(loops[0].parent), "model.py(4): forward");
  EXPECT_EQ(loops[0].turns.size(), 12);
  // The last turn is as long as the others: what comes behind it is no part of the loop.
  EXPECT_EQ(loops[0].calls.size(), 24);
  EXPECT_EQ(known.trace.name(loops[0].calls.front()), "aten::select");
  EXPECT_EQ(known.trace.name(loops[0].calls.back()), "aten::mul");
  EXPECT_EQ(loops[0].duration, 12 * (kShort + ProgramSketch::kLaunch));
}

TEST(RowLoops, have_at_least_ten_turns) {
  EXPECT_EQ(loops_in({.count = 9}), 0);
  EXPECT_EQ(loops_in({.count = 10}), 1);
}

TEST(RowLoops, begin_their_turns_with_operators_that_take_rows) {
  EXPECT_EQ(loops_in({.taker = "aten::slice"}), 1);
  EXPECT_EQ(loops_in({.taker = "aten::index"}), 1);
  EXPECT_EQ(loops_in({.taker = "aten::relu"}), 0);
}

TEST(RowLoops, take_another_row_in_each_turn) {
  const auto next_row = [](int turn) { return R"(["","0",")" + std::to_string(turn) + R"("])"; };
  const auto same_row = [](int) { return std::string(R"(["","0","0"])"); };
  EXPECT_EQ(loops_in({.shapes = "[[64,32],[],[]]", .row = next_row}), 1);
  EXPECT_EQ(loops_in({.shapes = "[[64,32],[],[]]", .row = same_row}), 0);
  EXPECT_EQ(loops_in({.shapes = "[[64,32],[],[]]"}), 1) << "values are not recorded";
}

TEST(RowLoops, call_the_same_in_each_turn_unlike_a_list_of_layers) {
  EXPECT_EQ(loops_in({.module = [](int) { return std::string("nn.Module: Linear_0"); }}), 1);
  EXPECT_EQ(loops_in({.module = [](int turn) { return "nn.Module: Linear_" + std::to_string(turn); }}), 0);
}

TEST(RowLoops, of_the_backward_pass_are_none) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kAnnotation, "backward");
  for (int turn = 0; turn < 12; ++turn) {
    program.run(Kind::kOperator, "aten::select", kShort);
    program.kernel("aten::mul", kShort);
  }
  EXPECT_TRUE(KnownTrace(program.build()).facts.row_loops().empty());
}

TEST(RowLoops, calls_without_a_duration_do_no_harm) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 1000);
  sketch.event(main, Kind::kPython, "model.py(4): forward", 0, 1000);
  for (int turn = 0; turn < 20; ++turn) sketch.op(main, "aten::select", 500, 500);
  EXPECT_TRUE(KnownTrace(sketch.build()).facts.row_loops().empty());
}

}  // namespace
}  // namespace telltale
