// Laws of trying fixes together, on all programs that the rules are tested with, and a program worked out by hand.
#include "advise/fix_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

Diagnosis diagnosed(const Trace& trace) { return diagnose(trace, {.keeps_fixes = true}); }

std::vector<std::size_t> triable(const Diagnosis& diagnosis) {
  std::vector<std::size_t> findings;
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i)
    if (diagnosis.findings[i].edit != nullptr) findings.push_back(i);
  return findings;
}

TEST(FixReplay, keeps_its_laws_on_all_programs_that_rules_know) {
  std::size_t tried = 0, together = 0;
  for (const RuleSample& sample : rule_samples()) {
    const Trace trace = sample.draw();
    const Diagnosis diagnosis = diagnosed(trace);
    const Nanoseconds step = diagnosis.unobserved_ns;
    EXPECT_EQ(diagnosis.fixes->with({}).before, step);
    EXPECT_EQ(diagnosis.fixes->with({}).after, step) << sample.program;
    for (const Finding& finding : diagnosis.findings) {
      EXPECT_EQ(finding.edit != nullptr, is_about_time(finding)) << sample.program << ' ' << finding.rule;
      EXPECT_EQ(why_not_tried(finding).empty(), finding.edit != nullptr);
    }
    std::vector<std::size_t> findings = triable(diagnosis);
    Nanoseconds largest = 0;
    for (const std::size_t finding : findings) {
      const Nanoseconds likely = diagnosis.findings[finding].saving.likely;
      const std::size_t one[] = {finding};
      EXPECT_EQ(step - diagnosis.fixes->with(one).after, std::min(likely, step))
          << sample.program << ' ' << diagnosis.findings[finding].rule;
      largest = std::max(largest, likely);
      ++tried;
    }
    const FixedStep all = diagnosis.fixes->with(findings);
    EXPECT_GE(step - all.after, std::min(largest, step)) << sample.program;
    EXPECT_GE(all.after, 0);
    std::ranges::reverse(findings);
    if (!findings.empty()) findings.push_back(findings.front());
    EXPECT_EQ(diagnosis.fixes->with(findings).after, all.after);
    together += findings.size() > 2;
  }
  EXPECT_GT(tried, 50u);
  EXPECT_GT(together, 5u);
}

// The host computes for 5 ms, logs for 2, of which one step in twenty would still do, and collects garbage for 3, of
// which a twentieth would be left.
TEST(FixReplay, adds_up_what_does_not_overlap) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(3): train");
    program.open(Kind::kModule, "nn.Module: Net_0");
    program.kernel("aten::mm", kMillisecond);
    program.spend(5 * kMillisecond);
    program.close();
    program.open(Kind::kPython, "train.py(60): write");
    program.run(Kind::kPython, "<built-in function fsync>", 2 * kMillisecond);
    program.close();
    program.run(Kind::kPython, "<built-in function collect>", 3 * kMillisecond);
    program.close();
  }
  const Trace trace = program.build();
  const Diagnosis diagnosis = diagnosed(trace);
  std::vector<std::size_t> both;
  for (const std::size_t i : triable(diagnosis)) {
    const std::string& rule = diagnosis.findings[i].rule;
    if (rule == "logging_in_step" || rule == "garbage_collection") both.push_back(i);
  }
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NEAR(static_cast<double>(diagnosis.unobserved_ns - diagnosis.fixes->with(both).after) / 1e6, 0.95 * 5, 0.05);
}

// The host launches for 8 ms what keeps the device busy for 2, and collects garbage for 10. At twice the batch the
// device works for up to 4 ms and the host for as long as before: half as long for each sample.
TEST(FixReplay, halves_what_is_left_by_other_fixes_at_twice_the_batch) {
  ProgramSketch program;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    program.open(Kind::kModule, "nn.Module: Net_0");
    for (int i = 0; i < 4; ++i) {
      program.kernel("aten::mm", kMillisecond / 2);
      program.spend(2 * kMillisecond);
    }
    program.close();
    program.run(Kind::kPython, "<built-in function collect>", 3 * kMillisecond);
  }
  const Trace trace = program.build();
  const Diagnosis diagnosis = diagnosed(trace);
  std::vector<std::size_t> both;
  for (const std::size_t i : triable(diagnosis)) {
    const std::string& fix = diagnosis.findings[i].fix.id;
    if (fix == "larger_batch" || fix == "freeze_gc") both.push_back(i);
  }
  ASSERT_EQ(both.size(), 2u);
  const std::size_t one = diagnosis.findings[both[0]].fix.id == "freeze_gc" ? both[0] : both[1];
  const FixedStep without = diagnosis.fixes->with({&one, 1}), with = diagnosis.fixes->with(both);
  EXPECT_EQ(without.batch, 1);
  EXPECT_EQ(with.batch, 2);
  EXPECT_NEAR(static_cast<double>(with.after), static_cast<double>(without.after) / 2,
              0.2 * static_cast<double>(without.after));
}

TEST(FixReplay, is_not_kept_unless_somebody_wants_it) {
  for (const RuleSample& sample : rule_samples()) {
    const Diagnosis diagnosis = diagnose(sample.draw());
    EXPECT_EQ(diagnosis.fixes, nullptr);
    EXPECT_TRUE(triable(diagnosis).empty());
    break;
  }
}

}  // namespace
}  // namespace telltale
