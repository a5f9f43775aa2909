#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Program {
  int batch = 4;
  int calls = 100;                       // of an operator that adds two small matrices
  Nanoseconds call = 10 * kMicrosecond;  // how long each takes
  int width = 10;                        // of the matrices
  Nanoseconds loading = 0;
  bool trains = true;
  bool has_shapes = true;
  bool is_in_loop = false;
  bool is_in_closure = false;  // of the optimizer
};

// A forward pass, which begins with a layer, and an optimizer that takes 1 ms.
Trace on_cpu(const Program& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = options.has_shapes;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    if (options.loading > 0)
      program.run(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", options.loading);
    program.open(Kind::kPython, "train.py(8): step");
    if (options.is_in_closure) program.open(Kind::kAnnotation, "Optimizer.step#LBFGS.step");
    program.open(Kind::kModule, "nn.Module: Net_0");
    for (int call = 0; call < options.calls; ++call) {
      if (options.is_in_loop) {
        const auto row = program.run(Kind::kOperator, "aten::select", options.call);
        if (options.has_shapes)
          program.sketch().set_inputs(row, "[[100,10],[],[]]", fmt::format(R"(["","0","{}"])", call));
      }
      const std::string shape = fmt::format("[{},{}]", options.batch, options.width);
      const bool is_in_layer = call == 0 && options.has_shapes;
      if (is_in_layer)
        program.sketch().set_inputs(program.open(Kind::kOperator, "aten::linear"), fmt::format("[{},[],[]]", shape));
      const auto add = program.run(Kind::kOperator, "aten::add", options.call);
      if (is_in_layer) program.close();
      if (!options.has_shapes) continue;
      program.sketch().set_inputs(add, fmt::format("[{},{},[]]", shape, shape), R"(["","","1"])");
      program.sketch().set_types(add, R"(["float","float","Scalar"])");
    }
    program.close();
    if (options.is_in_closure) {
      program.run(Kind::kOperator, "autograd::engine::evaluate_function: AddBackward0", 10 * kMicrosecond);
      program.close();
    } else if (options.trains) {
      program.open(Kind::kAnnotation, "Optimizer.step#Adam.step");
      program.run(Kind::kOperator, "aten::addcdiv_", 1 * kMillisecond);
      program.close();
    }
    program.close();
  }
  return program.build();
}

// A step takes 1 ms of 100 operators and 1 ms of the optimizer. An operator reads and writes 3 matrices of 4 × 10
// numbers: 480 bytes, 0.096 µs at 5 GB/s. At 16 times the batch it takes 15 × 0.096 µs longer: a step takes 2.144 ms,
// and its 16 parts 0.134 each.
TEST(SmallHostBatchRule, a_sample_costs_a_fraction_where_operators_have_little_to_do) {
  const std::vector<Finding> findings = findings_of(on_cpu({}), "small_host_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 - 0.134, 0.04);
  EXPECT_EQ(findings[0].fix.id, "larger_batch");
  EXPECT_EQ(findings[0].fix.code,
            "- loader = DataLoader(data, batch_size=4)\n+ loader = DataLoader(data, batch_size=64)");
  EXPECT_EQ(findings[0].explanation,
            "100 % of the step is the same for any batch: dispatching 101 operators, autograd, the optimizer and "
            "Python. At a batch of 64 instead of 4, each sample would take 93 % less.");
}

// Matrices of 4 × 2,000: 96,000 bytes, 19.2 µs of the 30 that an operator takes. At k times the batch a step of 4 ms
// takes 1.92 (k - 1) ms longer: a quarter less for a sample at 2 times (5.92 / 2), a fifth at 4 times (9.76 / 4
// = 2.44), and then no longer 15 % (17.44 / 8 = 2.18).
TEST(SmallHostBatchRule, the_batch_grows_as_long_as_a_doubling_pays) {
  const std::vector<Finding> findings =
      findings_of(on_cpu({.call = 30 * kMicrosecond, .width = 2000}), "small_host_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 4 - 2.44, 0.02);
  EXPECT_TRUE(findings[0].fix.code.ends_with("batch_size=16)"));
}

// However small its tensors are: of an operator that takes 1 ms, at most 20 µs are overhead.
TEST(SmallHostBatchRule, is_silent_where_operators_take_long) {
  EXPECT_TRUE(findings_of(on_cpu({.calls = 10, .call = 1 * kMillisecond}), "small_host_batch").empty());
}

TEST(SmallHostBatchRule, is_silent_where_operators_take_long_in_a_closure_of_the_optimizer) {
  const Trace trace = on_cpu({.calls = 10, .call = 1 * kMillisecond, .is_in_closure = true});
  EXPECT_TRUE(findings_of(trace, "small_host_batch").empty());
}

TEST(SmallHostBatchRule, is_silent_where_loading_is_most_of_the_step) {
  EXPECT_TRUE(findings_of(on_cpu({.loading = 20 * kMillisecond}), "small_host_batch").empty());
}

TEST(SmallHostBatchRule, is_silent_where_a_loop_goes_over_rows) {
  EXPECT_TRUE(findings_of(on_cpu({.is_in_loop = true}), "small_host_batch").empty());
}

TEST(SmallHostBatchRule, is_silent_without_shapes) {
  EXPECT_TRUE(findings_of(on_cpu({.has_shapes = false}), "small_host_batch").empty());
}

const RuleSample kTraining("small_host_batch", "training", [] { return on_cpu({}); });
const RuleSample kServing("small_host_batch", "serving", [] { return on_cpu({.batch = 1, .trains = false}); });

}  // namespace
}  // namespace telltale
