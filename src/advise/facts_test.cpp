#include "advise/facts.h"

#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Steps of 10 ms of Python and a kernel, with a call before the first one.
struct Program : ProgramSketch {
  Handle before = run(Kind::kPython, "train.py(2): log", 1 * kMillisecond);
  std::vector<Handle> calls, kernels;

  explicit Program(Nanoseconds computing) {
    for (int step = 0; step < 3; ++step) {
      begin_step();
      kernels.push_back(kernel({.op = "aten::mm", .name = "gemm", .duration = computing}));
      calls.push_back(run(Kind::kPython, "train.py(2): log", 10 * kMillisecond));
    }
  }
};

TEST(Facts, an_edit_saves_what_the_unobserved_step_takes_less) {
  Program program(1 * kMillisecond);
  const KnownTrace known(program.build());
  Edit edit = known.facts.unobserved;
  for (const auto call : program.calls) edit.scale_event(known.trace, program.id(call), 0.5F);
  EXPECT_NEAR(static_cast<double>(known.facts.saved_by(edit)), 5 * kMillisecond, 5 * kMicrosecond);
  EXPECT_EQ(known.facts.saved_by(known.facts.unobserved), 0);
  EXPECT_LT(known.facts.step, known.diagnosis.recorded_ns);
  EXPECT_NEAR(known.facts.percent_of_step(known.facts.step / 4), 25, 0.01);
}

TEST(Facts, an_edit_that_makes_a_step_longer_saves_less_than_nothing) {
  Program program(1 * kMillisecond);
  const KnownTrace known(program.build());
  Edit edit = known.facts.unobserved;
  edit.added_host_ns = 2 * kMillisecond;
  EXPECT_EQ(known.facts.saved_by(edit), -2 * kMillisecond);
}

TEST(Facts, tell_whether_the_device_is_the_bottleneck) {
  Program idle(1 * kMillisecond), busy(30 * kMillisecond);
  EXPECT_FALSE(KnownTrace(idle.build()).facts.is_device_bound());
  EXPECT_TRUE(KnownTrace(busy.build()).facts.is_device_bound());
}

TEST(Facts, events_are_found_by_kind_and_name_within_the_steps) {
  Program program(1 * kMillisecond);
  const KnownTrace known(program.build());
  const auto is_log = [](std::string_view name) { return name.ends_with("log"); };
  std::vector<EventId> calls, kernels;
  for (const auto call : program.calls) calls.push_back(program.id(call));
  for (const auto kernel : program.kernels) kernels.push_back(program.id(kernel));
  EXPECT_EQ(events_named(known.facts, Kind::kPython, is_log), calls);
  EXPECT_TRUE(events_named(known.facts, Kind::kOperator, is_log).empty());
  EXPECT_EQ(events_named(known.facts, Kind::kKernel, [](std::string_view name) { return name == "gemm"; }), kernels);
  EXPECT_FALSE(known.facts.is_in_steps(program.id(program.before)));
}

TEST(Facts, each_name_is_asked_for_once) {
  Program program(1 * kMillisecond);
  const Trace trace = program.build();
  std::size_t asked = 0;
  const std::vector<bool> passes = names_where(trace, [&](std::string_view name) {
    ++asked;
    return name == "gemm";
  });
  EXPECT_EQ(asked, trace.strings.size());
  EXPECT_TRUE(passes[trace.events.name[program.id(program.kernels[0])]]);
  EXPECT_FALSE(passes[trace.events.name[program.id(program.calls[0])]]);
}

TEST(SavingAround, is_a_range_within_the_step) {
  Program program(1 * kMillisecond);
  const KnownTrace known(program.build());
  const Saving saving = saving_around(known.facts, 4 * kMillisecond, 0.25);
  EXPECT_EQ(saving.low, 3 * kMillisecond);
  EXPECT_EQ(saving.likely, 4 * kMillisecond);
  EXPECT_EQ(saving.high, 5 * kMillisecond);
  const Saving nearly_all = saving_around(known.facts, known.facts.step, 0.25);
  EXPECT_EQ(nearly_all.high, known.facts.step);
  EXPECT_EQ(nearly_all.likely, known.facts.step);
  EXPECT_EQ(saving_around(known.facts, -kMillisecond, 0.25).low, 0);
}

TEST(Facts, of_an_empty_trace_have_a_step_that_can_be_divided_by) {
  const KnownTrace known(TraceSketch().build());
  EXPECT_EQ(known.facts.step, 1);
  EXPECT_EQ(known.facts.saved_by(known.facts.unobserved), 1);
}

}  // namespace
}  // namespace telltale
