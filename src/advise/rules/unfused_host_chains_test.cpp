#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Program {
  int calls = 6;  // of a multiplication, 100 µs each
  std::string_view shapes = "[[200000],[200000]]";
  std::string_view between = "";  // an operator in the middle
  Nanoseconds its_time = 1 * kMillisecond;
  std::string_view mark = "";  // an annotation around everything
  bool trains = false;
  std::string_view function = "model.py(12): force";
};

Trace on_cpu(const Program& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  const auto run = [&](std::string_view name, Nanoseconds duration) {
    const auto op = program.run(Kind::kOperator, name, duration);
    program.sketch().set_inputs(op, options.shapes);
    program.sketch().set_types(op, R"(["float","float"])");
  };
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, options.function);
    if (!options.mark.empty()) program.open(Kind::kAnnotation, options.mark);
    for (int call = 0; call < options.calls; ++call) {
      if (!options.between.empty() && call == options.calls / 2) run(options.between, options.its_time);
      run("aten::mul", 100 * kMicrosecond);
    }
    if (!options.mark.empty()) program.close();
    if (options.trains) {
      program.open(Kind::kAnnotation, "Optimizer.step#Adam.step");
      program.run(Kind::kOperator, "aten::addcdiv_", 1 * kMillisecond);
      program.close();
    }
    program.close();
  }
  return program.build();
}

std::vector<Finding> found_in(const Program& options) { return findings_of(on_cpu(options), "unfused_host_chains"); }

// Of 600 µs, 15 % and another 100 remain: 410 less. Calling compiled code costs 40.
TEST(UnfusedHostChainsRule, a_chain_passes_over_its_tensors_once) {
  const std::vector<Finding> findings = found_in({});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.410 - 0.040, 0.01);
  EXPECT_EQ(findings[0].fix.id, "compile");
  EXPECT_EQ(findings[0].fix.code, "+ force = torch.compile(force)");
}

TEST(UnfusedHostChainsRule, calling_compiled_code_costs_more_in_training) {
  const std::vector<Finding> findings = found_in({.trains = true});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.410 - 0.150, 0.01);
}

// As above, and 60 % of a millisecond of exp; nothing of tanh.
TEST(UnfusedHostChainsRule, functions_still_have_to_be_computed) {
  const std::vector<Finding> exp = found_in({.between = "aten::exp"}), tanh = found_in({.between = "aten::tanh"});
  ASSERT_EQ(exp.size(), 1);
  ASSERT_EQ(tanh.size(), 1);
  EXPECT_NEAR(likely_ms(exp[0]), 0.370 + 0.600, 0.01);
  EXPECT_NEAR(likely_ms(tanh[0]), 0.370, 0.01);
}

// Of two chains of 300 µs, 45 and another 100 remain each: 310 less.
TEST(UnfusedHostChainsRule, what_computes_otherwise_ends_a_chain) {
  const std::vector<Finding> findings = found_in({.between = "aten::sort"});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.310 - 0.040, 0.01);
  EXPECT_NEAR(likely_ms(found_in({.between = "aten::view", .its_time = 2 * kMicrosecond}).at(0)), 0.370, 0.01)
      << "a view does not";
}

TEST(UnfusedHostChainsRule, is_silent_about_few_or_small_operators) {
  EXPECT_TRUE(found_in({.calls = 2}).empty());
  EXPECT_TRUE(found_in({.calls = 4, .between = "aten::sort"}).empty());
  EXPECT_TRUE(found_in({.shapes = "[[20000],[20000]]"}).empty());
}

TEST(UnfusedHostChainsRule, is_silent_about_compiled_programs) {
  EXPECT_TRUE(found_in({.mark = "Torch-Compiled Region: 0/0"}).empty());
}

const RuleSample kOne("unfused_host_chains", "one chain", [] { return on_cpu({}); });
const RuleSample kTwo("unfused_host_chains", "two chains in no function",
                      [] { return on_cpu({.between = "aten::sort", .function = "model.py(12): <module>"}); });

}  // namespace
}  // namespace telltale
