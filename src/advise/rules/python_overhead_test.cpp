#include <gtest/gtest.h>

#include <string>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

Trace training(std::string_view function, Nanoseconds computing, bool calls_operator = false) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, function);
    program.spend(5 * kMillisecond);
    if (calls_operator) program.run(Kind::kOperator, "aten::arange", 1 * kMicrosecond);
    program.close();
    program.kernel("aten::mm", computing);
  }
  return program.build();
}

constexpr std::string_view kFunction = "train.py(21): weights";

// 3 % of 5 ms remain, and the device works for 1 ms.
TEST(PythonOverheadRule, the_device_alone_remains_where_python_is_gone) {
  const std::vector<Finding> findings = findings_of(training(kFunction, 1 * kMillisecond), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 5 - 1, 0.02);
  EXPECT_EQ(findings[0].fix.id, "vectorize");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 21, "weights"}));
  EXPECT_EQ(findings[0].title, "The GPU waits for Python in weights");
  EXPECT_EQ(findings[0].explanation,
            "weights takes 5.00 ms per recorded step without calling a single operator, and the GPU runs dry.");
}

TEST(PythonOverheadRule, three_percent_remain_where_the_device_has_little_to_do) {
  const std::vector<Finding> findings = findings_of(training(kFunction, 10 * kMicrosecond), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 5, 0.02);
}

TEST(PythonOverheadRule, is_silent_behind_the_device) {
  EXPECT_TRUE(findings_of(training(kFunction, 20 * kMillisecond), "python_overhead").empty());
}

TEST(PythonOverheadRule, is_silent_about_libraries) {
  EXPECT_TRUE(findings_of(training("torch/nn/modules/module.py(1700): _call_impl", 1 * kMillisecond), "python_overhead")
                  .empty());
}

// 5 ms without an operator, before the only one: 3 % of them remain, and the device has little to do.
TEST(PythonOverheadRule, counts_what_a_function_computes_between_its_operators) {
  const std::vector<Finding> findings = findings_of(training(kFunction, 10 * kMicrosecond, true), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 5, 0.02);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 21, "weights"}));
  EXPECT_EQ(findings[0].explanation,
            "weights spends 5.00 ms per recorded step in Python that calls no operator, and the GPU runs dry.");
}

// As model code does: 5 ms in stretches of 0.1 ms, an operator behind each.
TEST(PythonOverheadRule, is_silent_about_functions_that_call_operators_all_the_time) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, kFunction);
    for (int call = 0; call < 50; ++call) {
      program.spend(100 * kMicrosecond);
      program.run(Kind::kOperator, "aten::arange", 1 * kMicrosecond);
    }
    program.close();
    program.kernel("aten::mm", 10 * kMicrosecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "python_overhead").empty());
}

// One long stretch in four steps is that of a thread that lost its processor.
TEST(PythonOverheadRule, is_silent_about_stretches_in_few_steps) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.open(Kind::kPython, kFunction);
    program.spend(step == 2 ? 5 * kMillisecond : 50 * kMicrosecond);
    program.run(Kind::kOperator, "aten::arange", 1 * kMicrosecond);
    program.close();
    program.kernel("aten::mm", 10 * kMicrosecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "python_overhead").empty());
}

// 2 ms in a comprehension and 3 ms beside it are 5 ms of the function that both stand in.
TEST(PythonOverheadRule, counts_a_comprehension_for_the_function_that_it_stands_in) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, kFunction);
    program.run(Kind::kPython, "train.py(23): <listcomp>", 2 * kMillisecond);
    program.spend(3 * kMillisecond);
    program.run(Kind::kOperator, "aten::arange", 1 * kMicrosecond);
    program.close();
    program.kernel("aten::mm", 10 * kMicrosecond);
  }
  const std::vector<Finding> findings = findings_of(program.build(), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_TRUE(findings[0].parts.empty());
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 5, 0.02);
  EXPECT_EQ(findings[0].title, "The GPU waits for Python in weights");
}

// What the loop over the steps calls of a library stands within the mark of a step.
TEST(PythonOverheadRule, sees_through_the_mark_of_a_step_who_calls_a_library) {
  ProgramSketch program;
  program.open(Kind::kPython, "train.py(3): main");
  for (int step = 1; step < 5; ++step) {
    program.open(Kind::kAnnotation, "ProfilerStep#" + std::to_string(step));
    program.run(Kind::kPython, "numpy/linalg/_linalg.py(1655): eigh", 5 * kMillisecond);
    program.kernel("aten::mm", 10 * kMicrosecond);
    program.close();
  }
  program.close();
  const std::vector<Finding> findings = findings_of(program.build(), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 5, 0.02);
  EXPECT_EQ(findings[0].title, "The GPU waits for Python in main");
}

// A loop over the steps: what it calls has lines of its own, what it computes itself has none.
TEST(PythonOverheadRule, names_no_line_of_a_function_that_goes_on_over_steps) {
  ProgramSketch program;
  program.open(Kind::kPython, "train.py(3): main");
  for (int step = 1; step < 5; ++step) {
    program.open(Kind::kAnnotation, "ProfilerStep#" + std::to_string(step));
    program.spend(5 * kMillisecond);
    program.kernel("aten::mm", 10 * kMicrosecond);
    program.close();
  }
  program.close();
  const std::vector<Finding> findings = findings_of(program.build(), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 0, "main"}));
}

// A batch that numpy stacks for 4 ms and torch copies: 3 % of the stacking remain.
TEST(PythonOverheadRule, names_the_function_that_calls_another_library) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(30): sampled");
    program.run(Kind::kPython, "numpy/_core/shape_base.py(378): stack", 4 * kMillisecond);
    program.run(Kind::kOperator, "aten::to", 1 * kMillisecond);
    program.close();
    program.kernel("aten::mm", 10 * kMicrosecond);
  }
  const std::vector<Finding> findings = findings_of(program.build(), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 4, 0.02);
  EXPECT_EQ(findings[0].title, "The GPU waits for Python in sampled");
  EXPECT_EQ(findings[0].explanation,
            "sampled spends 4.00 ms per recorded step in Python that calls no operator, and the GPU runs dry.");
}

// 4 of 5 ms unpack a file, or 1.
Trace reading(Nanoseconds unpacking) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): table");
    program.run(Kind::kPython, "zipfile.py(943): read", unpacking);
    program.spend(5 * kMillisecond - unpacking);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 1 * kMillisecond);
  }
  return program.build();
}

TEST(PythonOverheadRule, what_is_read_in_every_step_is_read_once) {
  const std::vector<Finding> findings = findings_of(reading(4 * kMillisecond), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 5, 0.02);
  EXPECT_EQ(findings[0].fix.id, "read_ahead");
  EXPECT_EQ(findings[0].title, "The step waits for data to be read in table");
  EXPECT_EQ(findings[0].explanation,
            "table spends 5.00 ms per recorded step in Python, mostly to read, unpack or parse data.");
  EXPECT_EQ(findings_of(reading(1 * kMillisecond), "python_overhead").at(0).fix.id, "vectorize");
}

// 5 ms of Python around a collection of 1, which remains.
TEST(PythonOverheadRule, looks_past_collections_of_its_garbage) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, kFunction);
    program.spend(5 * kMillisecond);
    program.run(Kind::kPython, "<built-in function collect>", 1 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 1 * kMillisecond);
  }
  const std::vector<Finding> findings = findings_of(program.build(), "python_overhead");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.97 * 5, 0.02);
}

TEST(PythonOverheadRule, leaves_the_collector_to_others) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, kFunction);
    program.run(Kind::kPython, "<built-in function collect>", 5 * kMillisecond);
    program.close();
    program.kernel("aten::mm", 1 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "python_overhead").empty());
}

const RuleSample kReading("python_overhead", "a file", [] { return reading(4 * kMillisecond); });
const RuleSample kBeforeAKernel("python_overhead", "before a kernel",
                                [] { return training(kFunction, 1 * kMillisecond); });
const RuleSample kNoDevice("python_overhead", "no device", [] {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kPython, kFunction, 5 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 5 * kMillisecond);
  }
  return program.build();
});

}  // namespace
}  // namespace telltale
