#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Generation {
  int calls = 10;
  int growth = 1;  // of the tokens, from one call to the next
  bool trains = false;
};

// Three texts are generated. Each call of the model takes 1 ms in one operator, on 10 tokens at first.
Trace generated(const Generation& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "serve.py(8): generate");
    for (int call = 0; call < options.calls; ++call) {
      program.open(Kind::kModule, "nn.Module: Model_0");
      const auto layer = program.run(Kind::kOperator, "aten::linear", 1 * kMillisecond);
      program.sketch().set_inputs(layer, fmt::format("[[1,{},64],[64,64],[]]", 10 + call * options.growth));
      program.close();
    }
    if (options.trains) program.run(Kind::kAnnotation, "Optimizer.step#SGD.step", 1 * kMillisecond);
    program.close();
  }
  return program.build();
}

// Of an operator of 1 ms, 0.98 grow with its tensors. The calls behind the first have 11 to 19 tokens, of which all but
// one are saved: 0.98 × (9 - Σ 1/n) ms, and Σ is 0.6188.
TEST(RecomputedTokensRule, a_call_with_a_cache_computes_one_token) {
  const std::vector<Finding> findings = findings_of(generated({}), "recomputed_tokens");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.98 * (9 - 0.6188), 0.02);
  EXPECT_EQ(findings[0].fix.id, "kv_cache");
  EXPECT_EQ(findings[0].explanation,
            "9 calls of the model in each step get one token more than the call before, 11 to 19 in all, and compute "
            "each of them.");
}

TEST(RecomputedTokensRule, is_silent_where_tokens_do_not_grow_or_the_program_trains) {
  EXPECT_TRUE(findings_of(generated({.growth = 0}), "recomputed_tokens").empty());
  EXPECT_TRUE(findings_of(generated({.growth = 2}), "recomputed_tokens").empty());
  EXPECT_TRUE(findings_of(generated({.calls = 7}), "recomputed_tokens").empty());
  EXPECT_TRUE(findings_of(generated({.trains = true}), "recomputed_tokens").empty());
}

const RuleSample kGenerates("recomputed_tokens", "text on a CPU", [] { return generated({}); });

}  // namespace
}  // namespace telltale
