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
  EXPECT_NE(findings[0].fix.text.find("num_workers=4."), std::string::npos);
  EXPECT_NE(findings[0].fix.code.find("num_workers=4"), std::string::npos);

  trace.metadata.back().second = "\"1\"";  // the rest is done while the worker waits, at best
  EXPECT_NEAR(likely_ms(findings_of(trace, "data_loading").at(0)), 100 - 90, kClose);
  for (const char* odd : {"\"\"", "\"many\"", "\"-1\"", "[]", "\"64\""}) {
    trace.metadata.back().second = odd;
    EXPECT_NEAR(likely_ms(findings_of(trace, "data_loading").at(0)), 100 - 90.0 / 5, kClose) << odd;
  }
}

// Steps of 20 ms without a device, half of each for its batch; `busy` processors on average, of two.
Trace on_two_processors(double busy) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kAnnotation, kOwnLoader, 10 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
  }
  for (const char* counter : {"process processors", "processors busy"})
    for (int i = 0; i < 6; ++i) program.sketch().count(counter, i * 10 * kMillisecond, busy);
  Trace trace = program.build();
  trace.metadata.emplace_back("processors", "\"2\"");
  return trace;
}

TEST(DataLoadingRule, workers_have_only_the_processors_that_are_left) {
  // One computes: 10 ms of each in a step, and both have the time.
  const std::vector<Finding> easy = findings_of(on_two_processors(1), "data_loading");
  ASSERT_EQ(easy.size(), 1);
  EXPECT_NEAR(likely_ms(easy[0]), 9.8, kClose);
  // Two compute: 20 ms of work and the 10 of the batch take both 15 ms.
  const std::vector<Finding> busy = findings_of(on_two_processors(1.5), "data_loading");
  ASSERT_EQ(busy.size(), 1);
  EXPECT_NEAR(likely_ms(busy[0]), 5, kClose);
  EXPECT_EQ(busy[0].confidence, Confidence::kMedium);
  EXPECT_EQ(busy[0].fix.code.find("pin_memory"), std::string::npos);
}

TEST(DataLoadingRule, processors_that_others_keep_busy_are_not_there) {
  Trace trace = on_two_processors(1.5);
  for (std::uint32_t i = 0; i < 6; ++i) trace.counters.value[trace.counters.series[1].first + i] = 2;
  // 30 ms of work for one and a half processors.
  EXPECT_TRUE(findings_of(trace, "data_loading").empty());
}

// Each step waits 90 ms for its batch and computes for 10; each of the workers needs so long for one.
Trace with_workers(int workers, Nanoseconds batch, std::string_view processors) {
  Trace trace = training(kWorkersLoader, 90 * kMillisecond, 10 * kMillisecond, true);
  trace.metadata.emplace_back("processors", processors);
  trace.metadata.emplace_back("loader_workers", R"([{"workers":)" + std::to_string(workers) + "}]");
  trace.metadata.emplace_back(
      "worker_lines", R"({"workers":2,"batches":3,"took_ns":)" + std::to_string(3 * batch) + R"(,"processor_ns":)" +
                          std::to_string(3 * batch) +
                          R"(,"lines":[["data.py",41,"__getitem__","",0.8],["",0,"","",0.2]]})");
  return trace;
}

TEST(DataLoadingRule, says_how_many_workers_there_are_and_should_be) {
  const std::vector<Finding> findings = findings_of(with_workers(2, 200 * kMillisecond, "16"), "data_loading");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 100 - 100 * 1.3 / 5, kClose);
  EXPECT_EQ(
      findings[0].explanation,
      "The program waits 90.0 ms per recorded step for the data loader: each of the 2 workers it has needs 200 ms "
      "for a batch, 80 % of it in data.py:41 (__getitem__).");
  EXPECT_EQ(findings[0].fix.text, "Give the loader 8 workers instead of 2. Or make data.py:41 cheaper.");
  EXPECT_NE(findings[0].fix.code.find("num_workers=2)"), std::string::npos);
  EXPECT_EQ(findings[0].source, (SourceLine{"data.py", 41, "__getitem__"}));
}

TEST(DataLoadingRule, wants_no_more_workers_than_processors) {
  EXPECT_TRUE(findings_of(with_workers(2, 200 * kMillisecond, "2"), "data_loading").empty());
}

TEST(DataLoadingRule, workers_that_are_idle_are_not_too_few) {
  const std::vector<Finding> findings = findings_of(with_workers(2, 20 * kMillisecond, "16"), "data_loading");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "other");
  EXPECT_EQ(findings[0].confidence, Confidence::kLow);
}

TEST(DataLoadingRule, the_recorder_knows_better_than_names_whether_there_are_workers) {
  Trace trace = training(kOwnLoader, 90 * kMillisecond, 10 * kMillisecond, true);
  trace.metadata.emplace_back("loader_workers", R"([{"workers":2}])");
  EXPECT_TRUE(findings_of(trace, "loader_no_workers").empty());
  EXPECT_EQ(findings_of(trace, "data_loading").at(0).explanation,
            "The program waits 90.0 ms per recorded step for the data loader: its 2 workers cannot keep up.");
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
const RuleSample kTwoWorkers("data_loading", "2 workers", [] { return with_workers(2, 200 * kMillisecond, "16"); });
const RuleSample kIdleWorkers("data_loading", "idle workers", [] { return with_workers(2, 20 * kMillisecond, "16"); });
const RuleSample kOneWorker("data_loading", "1 worker", [] { return with_workers(1, 100 * kMillisecond, "16"); });
const RuleSample kBusyProcessors("data_loading", "busy processors", [] { return on_two_processors(1.5); });
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
