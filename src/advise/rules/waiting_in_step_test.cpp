#include <gtest/gtest.h>

#include <functional>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Three steps that wait and then compute, as sampled stacks show them.
Trace waiting(std::string_view wait, Nanoseconds waited, Nanoseconds computing) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "app.py(12): prepare");
    program.run(Kind::kPython, wait, waited);
    program.close();
    program.run(Kind::kOperator, "aten::mm", computing);
  }
  return program.build();
}

TEST(WaitingInStepRule, a_sleep_is_saved_as_a_whole) {
  const Trace trace = waiting("<waits for sleep>", 7 * kMillisecond, 3 * kMillisecond);
  const std::vector<Finding> findings = findings_of(trace, "waiting_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 7, 0.01);
  EXPECT_LE(findings[0].saving.high, 7 * kMillisecond);
  EXPECT_EQ(findings[0].fix.id, "remove_sleep");
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].source, (SourceLine{"app.py", 12, "prepare"}));
  EXPECT_EQ(findings[0].title, "The step sleeps in prepare");
  EXPECT_EQ(findings[0].explanation, "The step waits for a sleep at app.py:12: 7.00 ms per recorded step (70 %).");
}

// A step of a server that sleeps in the user's code, or in the server's.
Trace served(std::string_view handler) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "socketserver.py(755): handle");
    program.open(Kind::kPython, handler);
    program.run(Kind::kPython, "<waits for sleep>", 7 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 3 * kMillisecond);
    program.close();
  }
  return program.build();
}

TEST(WaitingInStepRule, what_a_server_calls_may_wait_as_any_step_does) {
  EXPECT_NEAR(likely_ms(findings_of(served("serve.py(9): look_up"), "waiting_in_step").at(0)), 7, 0.01);
  EXPECT_TRUE(findings_of(served("selectors.py(415): select"), "waiting_in_step").empty());
}

// 2 ms of requests fit behind 3 ms of computing.
TEST(WaitingInStepRule, a_request_is_hidden_behind_the_rest_of_the_step) {
  const Trace trace = waiting("<waits for socket>", 2 * kMillisecond, 3 * kMillisecond);
  const std::vector<Finding> findings = findings_of(trace, "waiting_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2, 0.01);
  EXPECT_EQ(findings[0].fix.id, "prefetch_request");
}

// Of 7 ms, one thread hides no more than the 3 ms that the step computes; several could hide all.
TEST(WaitingInStepRule, a_long_request_is_hidden_in_part) {
  const Trace trace = waiting("<waits for socket>", 7 * kMillisecond, 3 * kMillisecond);
  const std::vector<Finding> findings = findings_of(trace, "waiting_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 3, 0.01);
  EXPECT_NEAR(static_cast<double>(findings[0].saving.high) / 1e6, 7, 0.01);
}

// The other thread sleeps with the lock held, for 4 of the 5 ms that the step waits.
Trace contended(Nanoseconds held) {
  ProgramSketch program;
  const TrackId other = program.sketch().thread("stats");
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "app.py(12): update");
    const Nanoseconds begin = program.now();
    program.run(Kind::kPython, "<waits for lock>", 5 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 3 * kMillisecond);
    program.sketch().event(other, Kind::kPython, "stats.py(40): refresh", begin, begin + held);
    program.sketch().event(other, Kind::kPython, "<waits for sleep>", begin, begin + held);
  }
  return program.build();
}

TEST(WaitingInStepRule, names_the_line_that_runs_while_the_lock_is_waited_for) {
  const std::vector<Finding> findings = findings_of(contended(4 * kMillisecond), "waiting_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 5, 0.01);
  EXPECT_EQ(findings[0].fix.id, "shorten_lock");
  EXPECT_TRUE(findings[0].explanation.ends_with(
      "Meanwhile the thread stats is in refresh at stats.py:40, which may hold what is waited for."))
      << findings[0].explanation;
}

TEST(WaitingInStepRule, blames_no_line_that_is_there_for_less_than_half_of_the_wait) {
  const std::vector<Finding> findings = findings_of(contended(2 * kMillisecond), "waiting_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_FALSE(findings[0].explanation.contains("Meanwhile"));
}

TEST(WaitingInStepRule, each_line_is_a_finding_or_a_part_of_one) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "app.py(12): one");
    program.run(Kind::kPython, "<built-in function sleep>", 2 * kMillisecond);
    program.close();
    program.open(Kind::kPython, "app.py(20): other");
    program.run(Kind::kPython, "<built-in function sleep>", 3 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 5 * kMillisecond);
  }
  const std::vector<Finding> findings = findings_of(program.build(), "waiting_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 3, 0.01);
  ASSERT_EQ(findings[0].parts.size(), 1);
  EXPECT_NEAR(static_cast<double>(findings[0].parts[0].saving.likely) / 1e6, 2, 0.01);
}

TEST(WaitingInStepRule, is_silent_about_a_sleep_that_the_device_hides) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.kernel("aten::mm", 20 * kMillisecond);
    program.run(Kind::kPython, "<built-in function sleep>", 2 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "waiting_in_step").empty());
}

TEST(WaitingInStepRule, leaves_event_loops_without_work_alone) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "asyncio/base_events.py(1900): _run_once");
    program.run(Kind::kPython, "<waits for poll>", 7 * kMillisecond);
    program.close();
    program.run(Kind::kOperator, "aten::mm", 3 * kMillisecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "waiting_in_step").empty());
}

TEST(WaitingInStepRule, leaves_writing_logs_to_the_rule_about_that) {
  const Trace trace = waiting("<built-in function fsync>", 3 * kMillisecond, 7 * kMillisecond);
  EXPECT_TRUE(findings_of(trace, "waiting_in_step").empty());
  EXPECT_EQ(findings_of(trace, "logging_in_step").size(), 1);
}

RuleSample sample(std::string_view what, Nanoseconds waited) {
  return {"waiting_in_step", what,
          [what, waited] { return waiting("<waits for " + std::string(what) + ">", waited, 3 * kMillisecond); }};
}
const RuleSample kSleeps = sample("sleep", 7 * kMillisecond);
const RuleSample kRequests = sample("socket", 7 * kMillisecond);
const RuleSample kPipes = sample("pipe", 2 * kMillisecond);
const RuleSample kReads = sample("file", 2 * kMillisecond);
const RuleSample kRunsPrograms = sample("process", 2 * kMillisecond);
const RuleSample kPolls = sample("poll", 2 * kMillisecond);
const RuleSample kIsBlocked = sample("other", 2 * kMillisecond);
const RuleSample kLocks = sample("lock", 2 * kMillisecond);
const RuleSample kContends("waiting_in_step", "lock, and another thread", [] { return contended(4 * kMillisecond); });

}  // namespace
}  // namespace telltale
