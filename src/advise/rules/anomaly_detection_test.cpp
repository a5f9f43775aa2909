#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Training {
  bool detects = true;
  bool calls_any = false;      // as versions before 2.1 do
  bool shows_calls = false;    // of the function that notes a traceback
  bool is_on_device = false;   // the checks launch kernels and wait for them
  bool is_of_program = false;  // the program itself looks for NaN
  int nodes = 5;               // of the backward pass
  int views = 0;               // of 30 µs in the forward pass, and as many of 1 µs
};

void check(ProgramSketch& program, const Training& options) {
  if (options.is_on_device)
    program.kernel("aten::isnan", 100 * kMicrosecond);
  else
    program.run(Kind::kOperator, "aten::isnan", 1 * kMillisecond);
  program.open(Kind::kOperator, options.calls_any ? "aten::any" : "aten::_is_any_true");
  program.spend(500 * kMicrosecond);
  program.close();
  program.open(Kind::kOperator, "aten::item");
  if (options.is_on_device) program.wait();
  program.spend(100 * kMicrosecond);
  program.close();
}

// A forward pass of 10 ms, 200 µs of them in a traceback if it is shown, in two functions and a module, and five nodes
// of 2 ms backward.
Trace training(const Training& options) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    program.open(Kind::kModule, "nn.Module: Net_0");
    program.open(Kind::kPython, "net.py(3): forward");
    program.open(Kind::kOperator, "aten::addmm");
    if (options.shows_calls) program.run(Kind::kPython, "torch/fx/traceback.py(497): format_stack", 200 * kMicrosecond);
    program.spend((options.shows_calls ? 9'800 : 10'000) * kMicrosecond);
    program.close();
    for (int view = 0; view < options.views; ++view) {
      program.run(Kind::kOperator, "aten::view", 1 * kMicrosecond);
      program.open(Kind::kOperator, "aten::t");
      program.run(Kind::kOperator, "aten::transpose", 29 * kMicrosecond);
      program.spend(1 * kMicrosecond);
      program.close();
    }
    for (int closed = 0; closed < 2; ++closed) program.close();
    for (int node = 0; node < options.nodes; ++node) {
      program.open(Kind::kOperator, "autograd::engine::evaluate_function: AddmmBackward0");
      program.run(Kind::kOperator, "AddmmBackward0", 2 * kMillisecond);
      if (options.detects) check(program, options);
      program.close();
    }
    if (options.is_of_program) check(program, options);
    program.close();
  }
  return program.build();
}

constexpr int kNodes = 5;
// By hand: 1 + 0.5 + 0.1 ms for each node, and 45 µs for its traceback.
constexpr double kChecksMs = kNodes * 1.6;
constexpr double kTracebacksMs = kNodes * 0.045;

TEST(AnomalyDetectionRule, saves_the_checks_and_the_tracebacks) {
  for (const bool calls_any : {false, true}) {
    const std::vector<Finding> findings = findings_of(training({.calls_any = calls_any}), "anomaly_detection");
    ASSERT_EQ(findings.size(), 1);
    EXPECT_NEAR(likely_ms(findings[0]), kChecksMs + kTracebacksMs, 0.005);
    EXPECT_EQ(findings[0].fix.id, "no_anomaly_detection");
    EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 8, "step"}));
    EXPECT_TRUE(findings[0].explanation.find("the gradients of 5 nodes per step") != std::string::npos)
        << findings[0].explanation;
  }
}

TEST(AnomalyDetectionRule, knows_by_operators_that_compute_nothing_what_a_traceback_takes) {
  const std::vector<Finding> findings = findings_of(training({.views = 8}), "anomaly_detection");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kChecksMs + kNodes * 0.030, 0.005);
}

TEST(AnomalyDetectionRule, takes_tracebacks_as_they_are_where_calls_of_python_show_them) {
  const std::vector<Finding> findings = findings_of(training({.shows_calls = true}), "anomaly_detection");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), kChecksMs + 0.2, 0.02);
}

TEST(AnomalyDetectionRule, has_the_waits_that_the_checks_make_to_itself) {
  const Trace trace = training({.is_on_device = true});
  ASSERT_EQ(findings_of(trace, "anomaly_detection").size(), 1);
  EXPECT_TRUE(findings_of(trace, "host_sync").empty());
}

TEST(AnomalyDetectionRule, is_silent_about_programs_that_look_for_nan_themselves) {
  EXPECT_TRUE(findings_of(training({.detects = false}), "anomaly_detection").empty());
  EXPECT_TRUE(findings_of(training({.detects = false, .is_of_program = true}), "anomaly_detection").empty());
}

const RuleSample kEstimated("anomaly_detection", "tracebacks estimated", [] { return training({}); });
const RuleSample kOneNode("anomaly_detection", "one node", [] { return training({.nodes = 1}); });
const RuleSample kOnDevice("anomaly_detection", "on a GPU", [] { return training({.is_on_device = true}); });

}  // namespace
}  // namespace telltale
