#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kNext = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// Epochs of three steps that compute for 10 ms each. A start takes 100 ms, the first batch 50, others 1. The call that
// ends the epoch before may be seen, and stop workers.
Trace training(std::string_view setup, Nanoseconds stopping = 0) {
  ProgramSketch program;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    const bool begins_epoch = step % 3 == 1;
    program.open(Kind::kPython, "train.py(30): main");
    if (begins_epoch && stopping > 0) program.run(Kind::kAnnotation, kNext, stopping);
    if (begins_epoch) program.run(Kind::kAnnotation, "DataLoader.__iter__", 100 * kMillisecond);
    program.run(Kind::kAnnotation, kNext, (begins_epoch ? 50 : 1) * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
    program.close();
  }
  Trace trace = program.build();
  trace.metadata.emplace_back("loader_workers", setup);
  return trace;
}

TEST(LoaderRestartsRule, counts_starts_and_the_wait_for_first_batches) {
  const std::vector<Finding> findings =
      findings_of(training(R"([{"workers":2,"persistent_workers":false,"iterators":2}])"), "loader_restarts");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 * (100 + 50 - 1) / 6.0, 0.05);
  EXPECT_EQ(findings[0].explanation,
            "Stopping and starting 2 workers and waiting for the first batch takes 149 ms each time, and happens twice "
            "in 6 steps.");
  EXPECT_EQ(findings[0].fix.id, "persistent_workers");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 30, "main"}));
}

// Two calls of 41 ms become as short as others, which take 1.
TEST(LoaderRestartsRule, counts_how_long_workers_take_to_stop) {
  const Trace trace = training(R"([{"workers":2,"iterators":2}])", 41 * kMillisecond);
  EXPECT_NEAR(likely_ms(findings_of(trace, "loader_restarts").at(0)), 2 * (100 + 50 - 1 + 41 - 1) / 6.0, 0.05);
}

// By chance, two of three epochs of a run of 100 steps begin within the six that were recorded. A start costs 149 ms
// and other steps take 11, of which two starts make 2.98 ms more per step: a share that is said of the recorded step.
TEST(LoaderRestartsRule, starts_count_as_often_as_the_whole_run_has_them) {
  Trace trace = training(R"([{"workers":2,"iterators":3}])");
  for (Step& step : trace.steps) step.index += 94;
  const double recorded = 11 + 2 * 149 / 6.0;
  EXPECT_NEAR(likely_ms(findings_of(trace, "loader_restarts").at(0)), recorded * 2.98 / (11 + 2.98), 0.2);
}

// Epochs of a single batch.
TEST(LoaderRestartsRule, needs_no_other_batches) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.run(Kind::kAnnotation, "DataLoader.__iter__", 20 * kMillisecond);
    program.run(Kind::kAnnotation, kNext, 10 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
  }
  Trace trace = program.build();
  trace.metadata.emplace_back("loader_workers", R"([{"workers":1,"iterators":4}])");
  EXPECT_NEAR(likely_ms(findings_of(trace, "loader_restarts").at(0)), 30, 0.05);
}

TEST(LoaderRestartsRule, first_batches_take_workers_their_time) {
  Trace trace = training(R"([{"workers":2,"iterators":2}])");
  trace.metadata.emplace_back("worker_lines", R"({"workers":2,"batches":6,"took_ns":180000000,"processor_ns":1})");
  EXPECT_NEAR(likely_ms(findings_of(trace, "loader_restarts").at(0)), 2 * (100 + 50 - 30) / 6.0, 0.05);
}

TEST(LoaderRestartsRule, is_silent_where_workers_persist_or_nothing_is_known) {
  EXPECT_TRUE(findings_of(training(R"([{"workers":2,"persistent_workers":true}])"), "loader_restarts").empty());
  EXPECT_TRUE(findings_of(training("[]"), "loader_restarts").empty());
}

const RuleSample kRestarts("loader_restarts", "short epochs",
                           [] { return training(R"([{"workers":2,"persistent_workers":false,"iterators":2}])"); });

}  // namespace
}  // namespace telltale
