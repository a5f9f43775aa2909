#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kOwnLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr std::string_view kWorkersLoader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
constexpr double kClose = 0.05;

// Three steps that load, compute and, where they wait, begin anew when the device is done.
Trace training(std::string_view loader, Nanoseconds loading, Nanoseconds computing, bool waits) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(7): next_batch");
    program.run(Kind::kAnnotation, loader, loading);
    program.close();
    program.kernel("aten::mm", computing);
    if (waits) program.wait();
  }
  return program.build();
}

TEST(DataLoadingRule, a_batch_that_is_ready_costs_a_little) {
  const std::vector<Finding> findings =
      findings_of(training(kOwnLoader, 10 * kMillisecond, 4 * kMillisecond, true), "data_loading");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 9.8, kClose);
  EXPECT_EQ(findings[0].fix.id, "loader_workers");
  EXPECT_EQ(findings[0].explanation,
            "The data loader takes 10.0 ms per recorded step: it makes each batch only when it is asked for.");
  EXPECT_EQ(findings[0].evidence.size(), 3);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 7, "next_batch"}));
}

TEST(DataLoadingRule, workers_make_batches_no_more_than_five_times_as_fast) {
  const std::vector<Finding> own =
      findings_of(training(kOwnLoader, 90 * kMillisecond, 10 * kMillisecond, true), "data_loading");
  ASSERT_EQ(own.size(), 1);
  EXPECT_NEAR(likely_ms(own[0]), 100 - 90.0 / 5, kClose);

  const std::vector<Finding> workers =
      findings_of(training(kWorkersLoader, 90 * kMillisecond, 10 * kMillisecond, true), "data_loading");
  ASSERT_EQ(workers.size(), 1);
  EXPECT_NEAR(likely_ms(workers[0]), 100 - 100.0 / 5, kClose);
  EXPECT_NE(workers[0].fix.text.find("more workers"), std::string::npos);
}

TEST(DataLoadingRule, promises_no_more_workers_than_there_are_processors) {
  Trace trace = training(kOwnLoader, 90 * kMillisecond, 10 * kMillisecond, true);
  trace.metadata.emplace_back("processors", "\"4\"");
  const std::vector<Finding> findings = findings_of(trace, "data_loading");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 100 - 90.0 / (4 * 0.65), kClose);
  EXPECT_NE(findings[0].fix.text.find("num_workers=4, one for each processor"), std::string::npos);
  EXPECT_NE(findings[0].fix.code.find("num_workers=4"), std::string::npos);

  trace.metadata.back().second = "\"1\"";  // the rest is done while the worker waits, at best
  EXPECT_NEAR(likely_ms(findings_of(trace, "data_loading").at(0)), 100 - 90, kClose);
  for (const char* odd : {"\"\"", "\"many\"", "\"-1\"", "[]", "\"64\""}) {
    trace.metadata.back().second = odd;
    EXPECT_NEAR(likely_ms(findings_of(trace, "data_loading").at(0)), 100 - 90.0 / 5, kClose) << odd;
  }
}

TEST(DataLoadingRule, is_silent_when_the_device_has_work_meanwhile) {
  EXPECT_TRUE(findings_of(training(kOwnLoader, 10 * kMillisecond, 30 * kMillisecond, false), "data_loading").empty());
}

TEST(DataLoadingRule, is_silent_when_the_batch_is_ready) {
  EXPECT_TRUE(
      findings_of(training(kWorkersLoader, 150 * kMicrosecond, 1 * kMillisecond, true), "data_loading").empty());
}

TEST(DataLoadingRule, is_silent_about_loading_on_threads_that_do_not_feed_the_device) {
  ProgramSketch program;
  const TrackId other = program.sketch().thread("prefetch");
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.sketch().event(other, Kind::kAnnotation, kOwnLoader, program.now(), program.now() + 5 * kMillisecond);
    program.kernel("aten::mm", 5 * kMillisecond);
    program.wait();
  }
  EXPECT_TRUE(findings_of(program.build(), "data_loading").empty());
}

const RuleSample kNoWorkers("data_loading", "no workers",
                            [] { return training(kOwnLoader, 10 * kMillisecond, 4 * kMillisecond, true); });
const RuleSample kWorkers("data_loading", "workers",
                          [] { return training(kWorkersLoader, 90 * kMillisecond, 10 * kMillisecond, true); });
const RuleSample kNoWorkers1Processor("data_loading", "no workers, 1 processor", [] {
  Trace trace = training(kOwnLoader, 90 * kMillisecond, 10 * kMillisecond, true);
  trace.metadata.emplace_back("processors", "\"1\"");
  return trace;
});
const RuleSample kNoWorkers2Processors("data_loading", "no workers, 2 processors", [] {
  Trace trace = training(kOwnLoader, 90 * kMillisecond, 10 * kMillisecond, true);
  trace.metadata.emplace_back("processors", "\"2\"");
  return trace;
});
const RuleSample kNoDevice("data_loading", "no device", [] {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kAnnotation, kOwnLoader, 10 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 5 * kMillisecond);
  }
  return program.build();
});

}  // namespace
}  // namespace telltale
