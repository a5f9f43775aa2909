#include "advise/all_findings.h"

#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Steps of a kernel of 3 ms that the host waits for, and of 5 ms of Python with 2 ms of it in another call.
struct Program : ProgramSketch {
  std::vector<Handle> kernels, waits, calls;

  Program() {
    for (int step = 0; step < 3; ++step) {
      begin_step();
      kernels.push_back(kernel({.op = "aten::mm", .name = "gemm", .duration = 3 * kMillisecond}));
      waits.push_back(wait());
      calls.push_back(open(Kind::kPython, "serve.py(9): answer"));
      spend(3 * kMillisecond);
      run(Kind::kPython, "serve.py(20): encode", 2 * kMillisecond);
      close();
    }
  }
  std::vector<EventId> ids(const std::vector<Handle>& handles) const {
    std::vector<EventId> events;
    for (const Handle handle : handles) events.push_back(id(handle));
    return events;
  }
};

constexpr double kClose = 0.03;

TEST(MostSaved, a_call_is_gone_with_all_that_it_contains) {
  Program program;
  const KnownTrace known(program.build());
  EXPECT_NEAR(static_cast<double>(most_saved_by(known.facts, program.ids(program.calls))) / 1e6, 5, kClose);
}

TEST(MostSaved, work_is_gone_from_the_device) {
  Program program;
  const KnownTrace known(program.build());
  EXPECT_NEAR(static_cast<double>(most_saved_by(known.facts, program.ids(program.kernels))) / 1e6, 3, kClose);
}

// The device's 3 ms then hide behind the host's 5.
TEST(MostSaved, calls_that_wait_do_so_no_more) {
  Program program;
  const KnownTrace known(program.build());
  EXPECT_NEAR(static_cast<double>(most_saved_by(known.facts, program.ids(program.waits))) / 1e6, 3, kClose);
}

TEST(MostSaved, by_nothing_is_nothing) {
  Program program;
  const KnownTrace known(program.build());
  EXPECT_EQ(most_saved_by(known.facts, {}), 0);
}

TEST(AllFindings, promise_no_more_than_their_events_can_pay_and_show_some) {
  for (const RuleSample& sample : rule_samples()) {
    SCOPED_TRACE(sample.rule + ": " + sample.program);
    const KnownTrace known(sample.draw());
    for (const Finding& finding : all_findings(known.facts, {}, 0)) {
      SCOPED_TRACE(finding.rule);
      if (!is_about_time(finding)) continue;
      EXPECT_FALSE(finding.evidence.empty());
      EXPECT_LE(finding.saving.likely, most_saved_by(known.facts, finding.reach));
      EXPECT_LE(finding.saving.high, known.facts.step);
    }
  }
}

TEST(AllFindings, name_a_line_where_stacks_were_recorded) {
  Program program;
  program.sketch().trace().recorded.stacks = true;
  const KnownTrace known(program.build());
  const std::vector<Finding> findings = all_findings(known.facts, {"python_overhead"}, 0);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].source, (SourceLine{"serve.py", 9, "answer"}));
}

TEST(AllFindings, propose_one_change_once) {
  for (const RuleSample& sample : rule_samples()) {
    const KnownTrace known(sample.draw());
    const std::vector<Finding> findings = all_findings(known.facts, {}, 0);
    for (std::size_t i = 0; i < findings.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(is_about_time(findings[i]) && is_about_time(findings[j]) &&
                     is_one_change(findings[i].fix.id, findings[j].fix.id))
            << sample.rule << ": " << findings[i].rule << " and " << findings[j].rule;
  }
}

}  // namespace
}  // namespace telltale
