#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Three steps of 4 ms of computing and a backward pass whose end waits for an all-reduce. Of the call's 1 ms more than
// that, nothing is known.
Trace training(Nanoseconds waited, std::string_view shapes = {}) {
  ProgramSketch program;
  const TrackId gloo = program.sketch().thread("pt_gloo_runloop");
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(20): train");
    program.open(Kind::kPython, "<built-in method run_backward of torch._C._EngineBase object>");
    program.run(Kind::kOperator, "aten::mm", 4 * kMillisecond);
    const auto op = program.run(Kind::kOperator, "c10d::allreduce_", 0);
    if (!shapes.empty()) program.sketch().set_inputs(op, shapes);
    program.spend(1 * kMillisecond);
    const Nanoseconds begin = program.now();
    program.spend(waited);
    program.close();
    program.close();
    program.sketch().event(gloo, Kind::kAnnotation, "gloo:all_reduce", begin, begin + waited);
  }
  return program.build();
}

// 117,000 elements of 4 bytes, sent twice, take 8 ms at 117 MB per second: 12 ms of 20 wait for others.
TEST(WaitingForRanksRule, what_a_slow_network_does_not_explain_are_slower_ranks) {
  const Trace trace = training(20 * kMillisecond, "[[[117,500],[58500]],[],[]]");
  const std::vector<Finding> findings = findings_of(trace, "waiting_for_ranks");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 12, 0.02);
  EXPECT_EQ(findings[0].fix.id, "balance_ranks");
  EXPECT_EQ(findings[0].title, "The step waits for slower ranks");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 20, "train"}));
}

// Half of the 4 ms that the step computes could hide that much.
TEST(WaitingForRanksRule, what_may_be_the_network_is_hidden_in_part) {
  const Trace trace = training(20 * kMillisecond);
  const std::vector<Finding> findings = findings_of(trace, "waiting_for_ranks");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2, 0.02);
  EXPECT_EQ(findings[0].fix.id, "overlap_communication");
  EXPECT_EQ(findings[0].confidence, Confidence::kLow);
}

TEST(WaitingForRanksRule, the_breakdown_calls_it_communication) {
  const Trace trace = training(20 * kMillisecond);
  const Diagnosis diagnosis = diagnose(trace);
  const auto& parts = diagnosis.breakdown.by_host_work;
  EXPECT_EQ(parts[static_cast<std::size_t>(HostWork::kCommunication)], 20 * kMillisecond);
  EXPECT_EQ(parts[static_cast<std::size_t>(HostWork::kOperators)], 4 * kMillisecond);
  EXPECT_EQ(parts[static_cast<std::size_t>(HostWork::kPython)], 1 * kMillisecond);
}

// 5 % of the step are 250 µs of 5 ms.
TEST(WaitingForRanksRule, is_silent_about_little) {
  EXPECT_TRUE(findings_of(training(200 * kMicrosecond), "waiting_for_ranks").empty());
}

const RuleSample kSlowRank("waiting_for_ranks", "a slow rank",
                           [] { return training(20 * kMillisecond, "[[[117,500],[58500]],[],[]]"); });
const RuleSample kUnknown("waiting_for_ranks", "no shapes", [] { return training(20 * kMillisecond); });
const RuleSample kNetwork("waiting_for_ranks", "many bytes",
                          [] { return training(20 * kMillisecond, "[[[1024,1024]],[],[]]"); });

}  // namespace
}  // namespace telltale
