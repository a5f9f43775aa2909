#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Program {
  int threads = 1, processors = 4;
  double busy = -1;  // processors on average; negative: not measured
  Nanoseconds call = 1 * kMillisecond;
  int calls = 4;
  std::string_view op = "aten::mm";
};

// Products of which even a slow CPU does nothing but compute.
Trace on_cpu(const Program& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    for (int call = 0; call < options.calls; ++call) {
      const auto op = program.run(Kind::kOperator, options.op, options.call);
      program.sketch().set_inputs(op, "[[500,500],[500,500]]");
      program.sketch().set_types(op, R"(["float","float"])");
    }
    program.close();
  }
  return built_on(program, {options.processors, options.threads, options.busy});
}

std::vector<Finding> found_in(const Program& options) { return findings_of(on_cpu(options), "few_threads"); }

// 4 to the power of -0.75 is 0.354.
TEST(FewThreadsRule, operators_are_divided_among_all_processors) {
  const std::vector<Finding> findings = found_in({});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 4 * (1 - 0.354), 0.01);
  EXPECT_EQ(findings[0].title, "torch computes with 1 thread while 3 processors are idle");
  EXPECT_EQ(findings[0].fix.code, "- torch.set_num_threads(1)\n+ torch.set_num_threads(4)");
}

// 2 to the power of -0.75 is 0.595.
TEST(FewThreadsRule, only_idle_processors_count) {
  const std::vector<Finding> findings = found_in({.busy = 3.1});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 4 * (1 - 0.595), 0.01);
  EXPECT_EQ(findings[0].title, "torch computes with 1 thread while a processor is idle");
}

TEST(FewThreadsRule, is_silent_where_others_keep_the_processors_busy) {
  EXPECT_TRUE(found_in({.busy = 3.5}).empty());
  EXPECT_TRUE(found_in({.busy = 4}).empty());
}

TEST(FewThreadsRule, is_silent_where_there_is_a_thread_for_each_processor) {
  EXPECT_TRUE(found_in({.threads = 4, .busy = 1}).empty());
  EXPECT_TRUE(found_in({.threads = 8}).empty());
}

TEST(FewThreadsRule, is_silent_about_operators_too_short_to_be_divided) {
  EXPECT_TRUE(found_in({.call = 40 * kMicrosecond, .calls = 100}).empty());
}

TEST(FewThreadsRule, is_silent_about_operators_of_which_nothing_is_known) {
  EXPECT_TRUE(found_in({.op = "mine::search"}).empty());
}

const RuleSample kOne("few_threads", "one thread", [] { return on_cpu({.busy = 1}); });
const RuleSample kTwo("few_threads", "two threads and one operator",
                      [] { return on_cpu({.threads = 2, .processors = 3, .calls = 1}); });

}  // namespace
}  // namespace telltale
