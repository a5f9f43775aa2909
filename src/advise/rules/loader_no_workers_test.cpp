#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// Each step loads for 10 ms and computes for 4.
Trace training(std::string_view loader, std::string_view within) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, loader);
    program.run(Kind::kPython, within, 10 * kMillisecond);
    program.close();
    program.kernel("aten::mm", 4 * kMillisecond);
    program.wait();
  }
  return program.build();
}

constexpr std::string_view kNext = "torch/utils/data/dataloader.py(736): __next__";

TEST(LoaderNoWorkersRule, fires_when_the_asking_thread_fetches_from_the_dataset) {
  const Trace trace = training(kNext, "torch/utils/data/_utils/fetch.py(49): fetch");
  const std::vector<Finding> findings = findings_of(trace, "loader_no_workers");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 9.8, 0.05);
  EXPECT_EQ(findings[0].fix.id, "loader_workers");
}

TEST(LoaderNoWorkersRule, is_silent_when_workers_are_waited_for) {
  const Trace trace = training(kNext, "multiprocessing/queues.py(98): get");
  EXPECT_TRUE(findings_of(trace, "loader_no_workers").empty());
  EXPECT_FALSE(findings_of(trace, "data_loading").empty());
}

TEST(LoaderNoWorkersRule, is_silent_without_a_loader) {
  EXPECT_TRUE(findings_of(training("train.py(3): step", "train.py(9): think"), "loader_no_workers").empty());
}

const RuleSample kNoWorkers("loader_no_workers", "no workers",
                            [] { return training(kNext, "torch/utils/data/_utils/fetch.py(49): fetch"); });

}  // namespace
}  // namespace telltale
