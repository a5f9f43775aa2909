#include "advise/needs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "advise/diagnosis.h"
#include "advise/rule_info.h"
#include "analysis/testing/program_sketch.h"
#include "trace/own_recordings.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

Trace three_steps(bool on_device) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    if (on_device) {
      program.kernel("aten::mm", kMillisecond);
      program.wait();
    } else {
      program.run(Kind::kOperator, "aten::mm", kMillisecond);
    }
  }
  return program.build();
}

const BlindRule* blind_named(const Look& look, std::string_view id) {
  const auto at = std::ranges::find(look.blind, id, &BlindRule::id);
  return at == look.blind.end() ? nullptr : &*at;
}

TEST(Look, tells_who_lacks_what) {
  Trace trace = three_steps(true);
  const Look look = diagnose(trace).look;
  const auto applying = std::ssize(rule_infos()) - 1;  // not the one about gauges, which the trace does not have
  EXPECT_EQ(look.rules + std::ssize(look.blind), applying);
  ASSERT_NE(blind_named(look, "memory_leak"), nullptr);
  EXPECT_EQ(blind_named(look, "memory_leak")->lacks, std::vector{Need::kMemory});
  ASSERT_NE(blind_named(look, "logging_in_step"), nullptr);
  EXPECT_EQ(blind_named(look, "logging_in_step")->lacks, std::vector{Need::kStacks});
  EXPECT_EQ(blind_named(look, "recompilation"), nullptr);
  EXPECT_EQ(blind_named(look, "trace_unfit"), nullptr);

  trace.recorded = {.shapes = true, .stacks = true, .memory = true, .modules = true};
  const Look with_all = diagnose(trace).look;
  EXPECT_TRUE(with_all.blind.empty());
  EXPECT_EQ(with_all.rules, applying);
  EXPECT_EQ(with_all.remedy, "");
}

TEST(Look, one_of_several_will_do) {
  Trace trace = three_steps(true);
  ASSERT_NE(blind_named(diagnose(trace).look, "loop_indexing"), nullptr);
  EXPECT_EQ(blind_named(diagnose(trace).look, "loop_indexing")->lacks, std::vector{Need::kShapes});
  trace.recorded.stacks = true;
  EXPECT_EQ(blind_named(diagnose(trace).look, "loop_indexing"), nullptr);
}

TEST(Look, leaves_out_rules_that_do_not_apply) {
  const Look look = diagnose(three_steps(false)).look;
  EXPECT_LT(look.rules + std::ssize(look.blind), std::ssize(rule_infos()));
  EXPECT_EQ(blind_named(look, "low_roofline"), nullptr);  // it lacks shapes, but a device as well
  EXPECT_NE(blind_named(look, "memory_leak"), nullptr);
}

TEST(Look, is_that_of_the_rules_that_were_asked_for) {
  const Look look = diagnose(three_steps(true), {.rules = {"memory_spike", "host_sync"}}).look;
  EXPECT_EQ(look.rules, 1);
  ASSERT_EQ(look.blind.size(), 1);
  EXPECT_EQ(look.blind[0].id, "memory_spike");
}

TEST(Look, says_what_to_record_in_the_words_of_who_recorded) {
  const std::vector<std::string> rules = {"logging_in_step", "memory_spike"};
  Trace trace = three_steps(true);
  EXPECT_EQ(diagnose(trace, {.rules = rules}).look.remedy, "profile(with_stack=True, profile_memory=True)");
  trace.metadata = {{std::string(kAskedFor), R"({"find_steps":true,"memory":false})"}};
  EXPECT_EQ(diagnose(trace, {.rules = rules}).look.remedy, "telltale record --stacks --memory");
  trace.recorded.stacks = true;
  EXPECT_EQ(diagnose(trace, {.rules = rules}).look.remedy, "telltale record --memory");
  // torch's profiler, asked by the command, which timed steps beside it
  trace.metadata = {{std::string(kTimedSteps), R"({"took_ns":[]})"}};
  EXPECT_EQ(diagnose(trace, {.rules = rules}).look.remedy, "telltale record --memory");
}

TEST(Look, has_no_remedy_for_a_program_that_takes_few_steps) {
  ProgramSketch program;
  program.begin_step();
  program.kernel("aten::mm", kMillisecond);
  program.wait();
  Trace trace = program.build();
  trace.recorded.memory = true;
  const Look look = diagnose(trace, {.rules = {"memory_leak"}}).look;
  EXPECT_EQ(look.lacking, std::vector{Need::kSteps});
  EXPECT_EQ(look.remedy, "");
}

TEST(Look, asks_nothing_of_a_program_without_a_framework) {
  TraceSketch server;
  server.event(server.thread("worker"), Kind::kAnnotation, "batch", 0, 10);
  const Look look = diagnose(server.build()).look;
  EXPECT_EQ(look.rules, 0);
  EXPECT_TRUE(look.blind.empty());
}

}  // namespace
}  // namespace telltale
