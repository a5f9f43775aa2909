#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Looping {
  int turns = 20;
  Nanoseconds kernel = 5 * kMicrosecond;
  bool trains = false;
  int operators_before = 0;  // the first step
};

// Each step, a loop whose turns cost the host 105 µs and a kernel; then 1 ms of other work, and perhaps as many
// operators in the backward pass.
Trace looping(const Looping& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  if (options.operators_before > 0) {
    program.open(Kind::kAnnotation, "forward");
    for (int i = 0; i < options.operators_before; ++i) program.run(Kind::kOperator, "aten::mul", 10 * kMicrosecond);
    program.close();
  }
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "forward");
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < options.turns; ++turn) {
      program.run(Kind::kOperator, "aten::select", 50 * kMicrosecond);
      program.open(Kind::kOperator, "aten::mul");
      program.spend(50 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "elementwise_kernel", options.kernel);
      program.close();
    }
    program.close();
    program.close();
    if (options.trains) {
      program.open(Kind::kAnnotation, "backward");
      for (int turn = 0; turn < options.turns; ++turn) program.run(Kind::kOperator, "aten::mul", 100 * kMicrosecond);
      program.close();
    }
    program.run(Kind::kOperator, "aten::think", 1 * kMillisecond);
  }
  return program.build();
}

// One turn of 20 remains.
constexpr double kLoop = 20 * 0.105 * 19 / 20;

TEST(LoopIndexingRule, one_turn_remains_of_a_loop) {
  const std::vector<Finding> findings = findings_of(looping({}), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kLoop, 0.02);
  EXPECT_EQ(findings[0].fix.id, "batch_calls");
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 4, "attend"}));
  EXPECT_EQ(findings[0].title, "A loop calls the same operators for each of 20 rows");
  EXPECT_EQ(findings[0].evidence.size(), Finding::kMaxEvidence);
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
}

// All operators of the forward pass are the loop's, so that a twentieth of the backward pass remains as well.
TEST(LoopIndexingRule, the_backward_pass_shrinks_as_the_forward_pass_does) {
  const std::vector<Finding> findings = findings_of(looping({.trains = true}), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kLoop + 2 * 19.0 / 20, 0.02);
}

// Such as those of steps that warm up, which are not looked at for loops.
TEST(LoopIndexingRule, operators_before_the_steps_are_no_part_of_their_forward_pass) {
  const std::vector<Finding> findings =
      findings_of(looping({.trains = true, .operators_before = 100}), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kLoop + 2 * 19.0 / 20, 0.02);
}

// The loop, and a backward pass of as many nodes on autograd's thread, each 40 µs after the one before; of the thread
// that waits for it, at most the frame is known.
Trace training_on_two_threads(std::string_view frame) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  const TrackId autograd = program.sketch().thread("thread 7 (pt_autograd_0)");
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "forward");
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < 20; ++turn) {
      program.run(Kind::kOperator, "aten::select", 50 * kMicrosecond);
      program.open(Kind::kOperator, "aten::mul");
      program.spend(50 * kMicrosecond);
      program.launch("cudaLaunchKernel", Kind::kKernel, "elementwise_kernel", 5 * kMicrosecond);
      program.close();
    }
    program.close();
    program.close();
    if (!frame.empty()) program.open(Kind::kPython, frame);
    for (int turn = 0; turn < 20; ++turn) {
      program.spend(40 * kMicrosecond);
      const Nanoseconds begin = program.now(), end = begin + 60 * kMicrosecond;
      program.sketch().op(autograd, "autograd::engine::evaluate_function: MulBackward0", begin, end);
      const auto call = program.sketch().event(autograd, Kind::kRuntime, "cudaLaunchKernel", end - 5'000, end);
      program.sketch().work(program.stream(), Kind::kKernel, "elementwise_kernel", end, end + 5'000, call);
      program.spend(60 * kMicrosecond);
    }
    if (!frame.empty()) program.close();
    program.run(Kind::kOperator, "aten::think", 1 * kMillisecond);
  }
  return program.build();
}

// A twentieth remains of the pass. Its first node comes 40 µs after the call; where no frame tells of that, these are
// the step's.
TEST(LoopIndexingRule, the_time_between_nodes_of_the_backward_pass_shrinks_as_they_do) {
  for (const std::string_view frame : {"torch/_tensor.py(623): backward", "<built-in method run_backward of E>", ""}) {
    const std::vector<Finding> findings = findings_of(training_on_two_threads(frame), "loop_indexing");
    ASSERT_EQ(findings.size(), 1) << frame;
    const double pass = frame.empty() ? 2 - 0.04 : 2;
    EXPECT_NEAR(likely_ms(findings[0]), kLoop + pass * 19 / 20, 0.02) << frame;
  }
}

// A loop of 16 turns that cost the host 105 µs each.
Trace calling(std::string_view op, const std::function<std::string(int)>& module = {}, int loops = 1) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(9): forward");
    for (int loop = 0; loop < loops; ++loop) {
      for (int turn = 0; turn < 16; ++turn) {
        if (module) program.open(Kind::kModule, "nn.Module: " + module(turn));
        const auto call = program.open(Kind::kOperator, op);
        program.sketch().set_inputs(call, fmt::format("[[{},64],[]]", turn + 1));
        program.spend(100 * kMicrosecond);
        program.launch("cudaLaunchKernel", Kind::kKernel, "kernel", 5 * kMicrosecond);
        program.close();
        if (module) program.close();
      }
      program.run(Kind::kOperator, "aten::think", 500 * kMicrosecond);
      program.kernel("aten::sort", 5 * kMicrosecond);
    }
    program.close();
  }
  return program.build();
}

std::string one_cell(int /*turn*/) { return "LSTMCell_0"; }
std::string each_expert(int turn) { return fmt::format("Expert_{}", turn); }

TEST(LoopIndexingRule, names_what_the_loop_goes_over) {
  const std::vector<Finding> cells = findings_of(calling("aten::lstm_cell", one_cell), "loop_indexing");
  ASSERT_EQ(cells.size(), 1);
  EXPECT_EQ(cells[0].title, "A loop calls a recurrent cell for each of 16 time steps");
  EXPECT_EQ(cells[0].source, (SourceLine{"model.py", 9, "forward"}));
  EXPECT_EQ(cells[0].evidence.size(), Finding::kMaxEvidence);
  EXPECT_NEAR(likely_ms(cells[0]), 16 * 0.105 * 15 / 16, 0.02);
  const std::vector<Finding> tables = findings_of(calling("aten::embedding"), "loop_indexing");
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(tables[0].title, "A loop looks up 16 embedding tables one at a time");
}

// The one call still goes through its lists: a tenth of the host's time remains.
TEST(LoopIndexingRule, lists_of_parameters_leave_a_tenth) {
  const std::vector<Finding> findings = findings_of(calling("aten::mul_"), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "A loop goes through 16 parameters one at a time");
  EXPECT_NEAR(likely_ms(findings[0]), 16 * 0.105 * 0.9, 0.02);
}

TEST(LoopIndexingRule, is_silent_about_few_turns) {
  EXPECT_TRUE(findings_of(looping({.turns = 9}), "loop_indexing").empty());
}

TEST(LoopIndexingRule, is_silent_where_the_device_is_busy_with_something_else) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < 20; ++turn) program.run(Kind::kOperator, "aten::select", 50 * kMicrosecond);
    program.close();
    program.kernel("aten::mm", 50 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "loop_indexing").empty());
}

// Without a device: a loop of `turns` that call the operators, each for as long.
Trace looping_on_cpu(const std::vector<std::string_view>& ops, Nanoseconds duration, int turns = 20,
                     std::string_view module = {}) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < turns; ++turn) {
      if (!module.empty()) program.open(Kind::kModule, module);
      for (const std::string_view op : ops) {
        const auto call = program.run(Kind::kOperator, op, duration);
        if (ops.size() == 1) program.sketch().set_inputs(call, fmt::format("[[{},64],[]]", turn + 1));
      }
      if (!module.empty()) program.close();
    }
    program.close();
    program.run(Kind::kOperator, "aten::sort", 1 * kMillisecond);
  }
  return program.build();
}

// Of 20 turns with two operators of 10 µs, one remains. Of operators of 100 µs, all that is beyond 20 µs of overhead
// is the work itself and remains: 80 µs and a twentieth of 20.
TEST(LoopIndexingRule, on_a_cpu_one_call_saves_the_overhead_of_the_others) {
  const std::vector<Finding> small =
      findings_of(looping_on_cpu({"aten::select", "aten::mul"}, 10 * kMicrosecond), "loop_indexing");
  ASSERT_EQ(small.size(), 1);
  EXPECT_NEAR(likely_ms(small[0]), 20 * 0.020 * 19 / 20, 0.005);
  EXPECT_EQ(small[0].source, (SourceLine{"model.py", 4, "attend"}));
  const std::vector<Finding> large =
      findings_of(looping_on_cpu({"aten::select", "aten::mul"}, 100 * kMicrosecond), "loop_indexing");
  ASSERT_EQ(large.size(), 1);
  EXPECT_NEAR(likely_ms(large[0]), 20 * 2 * (0.100 - 0.081), 0.005);
}

// Lists of tensors are gone through one by one, at 55 % of the overhead.
TEST(LoopIndexingRule, on_a_cpu_lists_of_parameters_save_less) {
  const std::vector<Finding> findings =
      findings_of(looping_on_cpu({"aten::mul_"}, 10 * kMicrosecond, 40), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "A loop goes through 40 parameters one at a time");
  EXPECT_NEAR(likely_ms(findings[0]), 40 * 0.010 * 0.45, 0.002);
}

// A turn for each of 40 parameters of two shapes, that computes a new value aside: three operators of 10 µs, and 5 µs
// of Python before each.
Trace averaging(bool trains) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    for (const std::string_view shape : {"[[64]]", "[[64,64]]"}) {
      if (!trains) break;
      const auto sum = program.run(Kind::kOperator, "torch::autograd::AccumulateGrad", 100 * kMicrosecond);
      program.sketch().set_inputs(sum, shape);
    }
    program.open(Kind::kPython, "train.py(7): follow");
    for (int turn = 0; turn < 40; ++turn)
      for (const std::string_view op : {"aten::mul", "aten::mul", "aten::add"}) {
        if (turn > 0 || op == "aten::add") program.spend(5 * kMicrosecond);
        const auto call = program.run(Kind::kOperator, op, 10 * kMicrosecond);
        program.sketch().set_inputs(call, turn % 2 == 0 ? "[[64],[]]" : "[[64,64],[]]");
      }
    program.close();
    program.run(Kind::kOperator, "aten::sort", 1 * kMillisecond);
  }
  return program.build();
}

// One call of three remains, lerp_, at 55 % of its overhead. 4,096 floats and as many results, at 5 GB a second, would
// take 6.6 µs: of the 20 operators' 10 µs with such tensors that is work, which becomes a third as well. The others
// have none to speak of: 64 floats take 0.1 µs.
TEST(LoopIndexingRule, a_value_that_is_computed_aside_becomes_one_call) {
  const std::vector<Finding> findings = findings_of(averaging(true), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "A loop goes through 40 parameters one at a time");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "follow"}));
  const double work = 20 * 3 * 6.6, overhead = 40 * 3 * 10 - work, python = (40 * 3 - 2) * 5;
  const double left = (work + 0.55 * overhead + 0.55 * python) / 3;
  EXPECT_NEAR(likely_ms(findings[0]), (work + overhead + python - left) / 1e3, 0.03);
}

// A loop over parameters behind the backward pass leaves that as it is.
TEST(LoopIndexingRule, parameters_that_nothing_goes_back_through_leave_the_backward_pass) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kAnnotation, "backward");
    program.run(Kind::kOperator, "aten::mm", 2 * kMillisecond);
    program.close();
    program.open(Kind::kAnnotation, "forward");  // as far as such a recording tells
    program.open(Kind::kPython, "train.py(7): decay");
    for (int turn = 0; turn < 40; ++turn) {
      const auto call = program.run(Kind::kOperator, "aten::mul_", 10 * kMicrosecond);
      program.sketch().set_inputs(call, fmt::format("[[{},64],[]]", turn + 1));
    }
    program.close();
    program.close();
  }
  const std::vector<Finding> findings = findings_of(program.build(), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 40 * 0.010 * 0.45, 0.005);
}

// Two shapes may be those of anything, if nobody says which ones parameters have.
TEST(LoopIndexingRule, two_shapes_are_no_parameters_where_nothing_is_known_of_them) {
  EXPECT_TRUE(findings_of(averaging(false), "loop_indexing").empty());
}

// Of what the function does between the calls, one turn of 20 remains as well.
TEST(LoopIndexingRule, python_between_the_calls_goes_with_them) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(4): attend");
    program.spend(300 * kMicrosecond);  // before the loop
    for (int turn = 0; turn < 20; ++turn) {
      if (turn > 0) program.spend(30 * kMicrosecond);
      program.run(Kind::kOperator, "aten::select", 10 * kMicrosecond);
    }
    program.close();
    program.run(Kind::kOperator, "aten::sort", 1 * kMillisecond);
  }
  const std::vector<Finding> findings = findings_of(program.build(), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), (20 * 0.010 + 19 * 0.030) * 19 / 20, 0.005);
}

// The gradient of each row is a tensor as large as all rows, and is added to the others': 500 µs each time, nearly all
// of it work and no overhead. With all rows taken at once, one of 20 remains; of 20 µs that the engine takes from one
// to the next, as much as of the forward pass's 21 operators.
TEST(LoopIndexingRule, gradients_of_rows_become_one) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    std::vector<ProgramSketch::Handle> rows;
    program.open(Kind::kAnnotation, "forward");
    program.open(Kind::kPython, "model.py(4): attend");
    for (int turn = 0; turn < 20; ++turn) rows.push_back(program.run(Kind::kOperator, "aten::select", 10'000));
    program.close();
    program.run(Kind::kOperator, "aten::stack", 10 * kMicrosecond);
    program.close();
    program.open(Kind::kPython, "torch/_tensor.py(623): backward");
    for (const ProgramSketch::Handle row : rows) {
      program.spend(20 * kMicrosecond);
      program.open(Kind::kOperator, "autograd::engine::evaluate_function: SelectBackward0");
      program.sketch().set_cause(program.run(Kind::kOperator, "SelectBackward0", 200 * kMicrosecond), row);
      program.run(Kind::kOperator, "aten::add_", 300 * kMicrosecond);
      program.close();
    }
    program.close();
    program.run(Kind::kOperator, "aten::sort", 1 * kMillisecond);
  }
  const std::vector<Finding> findings = findings_of(program.build(), "loop_indexing");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), (20 * (0.010 + 0.500 + 0.020) + 0.010) * 19 / 20, 0.02);
}

TEST(LoopIndexingRule, on_a_cpu_only_an_lstm_gains_as_a_whole) {
  const std::vector<Finding> lstm = findings_of(
      looping_on_cpu({"aten::lstm_cell"}, 100 * kMicrosecond, 20, "nn.Module: LSTMCell_0"), "loop_indexing");
  ASSERT_EQ(lstm.size(), 1);
  EXPECT_NEAR(likely_ms(lstm[0]), 20 * 0.100 * 0.75, 0.005);
  EXPECT_TRUE(
      findings_of(looping_on_cpu({"aten::gru_cell"}, 100 * kMicrosecond, 20, "nn.Module: GRUCell_0"), "loop_indexing")
          .empty());
}

const RuleSample k20Rows("loop_indexing", "20 rows", [] { return looping({}); });
const RuleSample k16Cells("loop_indexing", "16 cells", [] { return calling("aten::lstm_cell", one_cell); });
const RuleSample k16Parts("loop_indexing", "16 parts", [] {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(9): forward");
    for (int turn = 0; turn < 16; ++turn)
      for (const std::string_view op : {"aten::nonzero", "aten::index", "aten::sum"}) {
        program.spend(50 * kMicrosecond);
        program.kernel(op, 5 * kMicrosecond);
      }
    program.close();
  }
  return program.build();
});
const RuleSample k16Tables("loop_indexing", "16 tables", [] { return calling("aten::embedding"); });
const RuleSample k16Experts("loop_indexing", "16 experts", [] { return calling("aten::mm", each_expert); });
const RuleSample kParameters("loop_indexing", "16 parameters, twice", [] { return calling("aten::mul_", {}, 2); });

}  // namespace
}  // namespace telltale
