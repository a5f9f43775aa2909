#include "advise/patterns/call_loops.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr Nanoseconds kShort = 5 * kMicrosecond;

// Operators that launch a kernel each.
void call_all(ProgramSketch& program, std::initializer_list<std::string_view> ops, std::string_view shapes = {}) {
  for (const std::string_view op : ops) program.kernel({.op = op, .duration = kShort, .shapes = shapes});
}

void call_module(ProgramSketch& program, const std::string& name, std::initializer_list<std::string_view> ops) {
  program.open(Kind::kModule, "nn.Module: " + name);
  program.open(Kind::kPython, "module.py(40): forward");
  call_all(program, ops);
  program.close();
  program.close();
}

// A step with a loop between two products.
Trace looping(int turns, const std::function<void(ProgramSketch&, int)>& draw_turn) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kPython, "model.py(4): forward");
  call_all(program, {"aten::addmm"});
  for (int turn = 0; turn < turns; ++turn) draw_turn(program, turn);
  call_all(program, {"aten::addmm"});
  return program.build();
}

std::vector<CallLoop> loops_in(int turns, const std::function<void(ProgramSketch&, int)>& draw_turn) {
  return find_call_loops(KnownTrace(looping(turns, draw_turn)).facts);
}

void expect_one(LoopOver over, std::size_t turns, const std::vector<CallLoop>& loops) {
  ASSERT_EQ(loops.size(), 1);
  EXPECT_EQ(loops[0].over, over);
  EXPECT_EQ(loops[0].turns.size(), turns);
}

std::string numbered(std::string_view name, int number) { return std::string(name) + "_" + std::to_string(number); }

TEST(CallLoops, over_time_steps_call_one_cell_again_and_again) {
  expect_one(LoopOver::kCells, 16, loops_in(16, [](ProgramSketch& program, int) {
               call_module(program, "LSTMCell_0", {"aten::lstm_cell"});
             }));
}

TEST(CallLoops, over_time_steps_may_write_their_cell_out) {
  expect_one(LoopOver::kCells, 16, loops_in(16, [](ProgramSketch& program, int) {
               program.run(Kind::kOperator, "aten::select", kShort);
               call_all(program, {"aten::addmm", "aten::addmm", "aten::sigmoid", "aten::tanh", "aten::mul"});
             }));
}

TEST(CallLoops, over_parts_take_them_from_other_places_in_each_turn) {
  const auto draw = [](const std::function<int(int)>& column) {
    return [column](ProgramSketch& program, int turn) {
      for (const int place : {column(turn), column(turn) + 1}) {
        const auto taking = program.run(Kind::kOperator, "aten::select", kShort);
        program.sketch().set_inputs(taking, "[[64,16,8],[],[]]", R"(["","1",")" + std::to_string(place) + R"("])");
      }
      call_all(program, {"aten::mul", "aten::sum"});
    };
  };
  expect_one(LoopOver::kParts, 12, loops_in(12, draw([](int turn) { return turn; })));
  EXPECT_TRUE(loops_in(12, draw([](int) { return 3; })).empty());
}

TEST(CallLoops, over_parts_may_pick_them_by_a_condition) {
  const auto draw = [](std::string_view condition, std::string_view pick) {
    return [=](ProgramSketch& program, int) { call_all(program, {condition, pick, "aten::mul", "aten::sum"}); };
  };
  expect_one(LoopOver::kParts, 12, loops_in(12, draw("aten::nonzero", "aten::index_select")));
  // Rounds of messages along the same edges, and mere counting.
  EXPECT_TRUE(loops_in(12, draw("aten::mul", "aten::index_select")).empty());
  EXPECT_TRUE(loops_in(12, draw("aten::nonzero", "aten::sum")).empty());
}

TEST(CallLoops, over_parts_may_get_them_from_a_split) {
  const auto loops = [](std::string_view op, std::string_view shapes, std::string_view values) {
    return loops_in(12, [=](ProgramSketch& program, int turn) {
      if (turn == 0) program.sketch().set_inputs(program.run(Kind::kOperator, op, kShort), shapes, values);
      call_module(program, "Head_0", {"aten::addmm", "aten::tanh"});
    });
  };
  expect_one(LoopOver::kParts, 12, loops("aten::unbind", "[[64,12,8],[]]", R"(["","1"])"));
  expect_one(LoopOver::kParts, 12, loops("aten::split", "[[48,8],[],[]]", R"(["","4","0"])"));
  expect_one(LoopOver::kParts, 12, loops("aten::chunk", "[[48,8],[],[]]", R"(["","12","0"])"));
  EXPECT_TRUE(loops("aten::unbind", "[[64,12,8],[]]", R"(["","0"])").empty());
  EXPECT_TRUE(loops("aten::unbind", "[[64,12,8],[]]", R"(["","9"])").empty());
}

TEST(CallLoops, over_experts_pick_rows_for_another_module_in_each_turn) {
  expect_one(LoopOver::kExperts, 8, loops_in(8, [](ProgramSketch& program, int turn) {
               call_all(program, {"aten::eq", "aten::nonzero", "aten::index_select"});
               call_module(program, numbered("Sequential", turn), {"aten::addmm", "aten::gelu", "aten::addmm"});
             }));
}

TEST(CallLoops, over_tables_only_look_up) {
  const auto draw = [](ProgramSketch& program, int turn) {
    program.run(Kind::kOperator, "aten::select", kShort);
    call_module(program, numbered("Embedding", turn), {"aten::embedding"});
  };
  expect_one(LoopOver::kTables, 26, loops_in(26, draw));
  EXPECT_TRUE(loops_in(7, draw).empty());
}

TEST(CallLoops, over_parameters_change_tensors_of_many_shapes) {
  expect_one(LoopOver::kParameters, 12, loops_in(12, [](ProgramSketch& program, int turn) {
               const std::string shapes = "[[" + std::to_string(64 * (turn % 4 + 1)) + ",64],[]]";
               call_all(program, {"aten::mul_", "aten::add_"}, shapes);
             }));
  EXPECT_TRUE(loops_in(12, [](ProgramSketch& program, int) {
                call_all(program, {"aten::mul_", "aten::add_"}, "[[64,64],[]]");
              }).empty());
}

// As torch.save() does.
TEST(CallLoops, over_parameters_do_not_copy_them_to_the_host) {
  const auto copy = [](MemorySpace from, MemorySpace to) {
    return [=](ProgramSketch& program, int turn) {
      const auto op = program.open(Kind::kOperator, "aten::copy_");
      program.sketch().set_inputs(op, "[[" + std::to_string(64 * (turn % 4 + 1)) + ",64],[]]", "");
      const auto work = program.launch("cudaMemcpyAsync", Kind::kMemcpy, "Memcpy", kShort);
      program.sketch().set_copy(work, {.bytes = 1 << 20, .from = from, .to = to});
      program.close();
    };
  };
  EXPECT_TRUE(loops_in(12, copy(MemorySpace::kDevice, MemorySpace::kPageable)).empty());
  EXPECT_TRUE(loops_in(12, copy(MemorySpace::kPinned, MemorySpace::kDevice)).empty());
  expect_one(LoopOver::kParameters, 12, loops_in(12, copy(MemorySpace::kDevice, MemorySpace::kDevice)));
}

// As a model that is moved to the device and to another type does.
TEST(CallLoops, over_parameters_do_not_fill_new_tensors) {
  EXPECT_TRUE(loops_in(12, [](ProgramSketch& program, int turn) {
                const auto op = program.open(Kind::kOperator, "aten::_to_copy");
                program.sketch().set_inputs(op, "[[" + std::to_string(64 * (turn % 4 + 1)) + ",64],[]]", "");
                call_all(program, {"aten::copy_"});
                program.close();
              }).empty());
}

TEST(CallLoops, are_not_looked_for_in_torchs_optimizers) {
  ProgramSketch program;
  program.begin_step();
  program.open(Kind::kAnnotation, "Optimizer.step#SGD.step");
  for (int turn = 0; turn < 12; ++turn) call_all(program, {"aten::add_"}, "[[" + std::to_string(turn + 1) + ",64],[]]");
  EXPECT_TRUE(find_call_loops(KnownTrace(program.build()).facts).empty());
}

TEST(CallLoops, are_no_layers) {
  const auto block = [](std::string_view name) {
    return [name](ProgramSketch& program, int turn) {
      call_module(program, numbered(name, turn),
                  {"aten::index", "aten::native_layer_norm", "aten::addmm", "aten::_softmax", "aten::addmm"});
    };
  };
  EXPECT_TRUE(loops_in(12, block("Block")).empty());
  EXPECT_TRUE(loops_in(12, [](ProgramSketch& program, int turn) {
                call_module(program, numbered("Linear", turn), {"aten::addmm"});
                call_all(program, {"aten::tanh"});
              }).empty());
}

TEST(CallLoops, are_no_layers_without_stacks_either) {
  ProgramSketch program;
  program.begin_step();
  for (int layer = 0; layer < 12; ++layer)
    call_all(program, {"aten::native_layer_norm", "aten::addmm", "aten::index", "aten::addmm"});
  EXPECT_TRUE(find_call_loops(KnownTrace(program.build()).facts).empty());
}

// It calls a cell for each row.
TEST(CallLoops, do_not_overlap) {
  const std::vector<CallLoop> loops = loops_in(16, [](ProgramSketch& program, int turn) {
    const auto taking = program.run(Kind::kOperator, "aten::select", kShort);
    program.sketch().set_inputs(taking, "[[16,64],[],[]]", R"(["","0",")" + std::to_string(turn) + R"("])");
    call_module(program, "GRUCell_0", {"aten::gru_cell"});
  });
  expect_one(LoopOver::kCells, 16, loops);
}

// One step after the other, and no loop in any of them.
TEST(CallLoops, are_none_where_each_turn_is_a_step) {
  const auto loops_of = [](bool has_steps) {
    ProgramSketch program;
    program.begin_step();
    program.open(Kind::kPython, "train.py(4): train");
    for (int turn = 0; turn < 16; ++turn) {
      if (has_steps && turn > 0) program.begin_step();
      call_module(program, "LSTMCell_0", {"aten::lstm_cell"});
    }
    return find_call_loops(KnownTrace(program.build()).facts);
  };
  EXPECT_EQ(loops_of(false).size(), 1);
  EXPECT_TRUE(loops_of(true).empty());
}

}  // namespace
}  // namespace telltale
