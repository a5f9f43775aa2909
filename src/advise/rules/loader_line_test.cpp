#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr double kClose = 0.05;

// Each step loads for 10 ms, of which `costly` within a call that the dataset makes, and computes for 10, on one
// processor: workers would not help.
Trace training(Nanoseconds costly, std::string_view within, std::string_view processors = "1") {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(30): main");
    program.open(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    program.open(Kind::kPython, "torch/utils/data/_utils/fetch.py(54): fetch");
    program.open(Kind::kPython, "data.py(41): __getitem__");
    program.run(Kind::kPython, within, costly);
    program.close();
    program.run(Kind::kPython, "torch/utils/data/_utils/collate.py(9): collate", 10 * kMillisecond - costly);
    program.close();
    program.close();
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
    program.close();
  }
  Trace trace = program.build();
  trace.metadata.emplace_back("processors", processors);
  return trace;
}

TEST(LoaderLineRule, names_the_line_that_takes_most_of_the_loaders_time) {
  const std::vector<Finding> findings =
      findings_of(training(8 * kMillisecond, "<built-in function decode>"), "loader_line");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 8, kClose);
  EXPECT_EQ(findings[0].explanation,
            "The data loader takes 10.0 ms per recorded step, 80 % of it in data.py:41 (__getitem__). Worker processes "
            "would gain little: the program keeps the processors busy.");
  EXPECT_EQ(findings[0].source, (SourceLine{"data.py", 41, "__getitem__"}));
  EXPECT_EQ(findings[0].fix.id, "cheaper_batches");
}

TEST(LoaderLineRule, says_that_the_line_waits) {
  const std::vector<Finding> findings = findings_of(training(4 * kMillisecond, "<waits for file>"), "loader_line");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 4, kClose);
  EXPECT_EQ(
      findings[0].explanation,
      "The data loader takes 10.0 ms per recorded step, 40 % of it in data.py:41 (__getitem__), waiting for files.");
  EXPECT_TRUE(findings[0].fix.text.starts_with("Do not wait in data.py:41"));
}

// Two workers that need 8 ms for a batch have 24 for two of them: what the program waits for is something else. That
// samples tear its calls in two does not make them two batches.
TEST(LoaderLineRule, is_silent_where_workers_have_time) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.run(Kind::kPython, "torch/utils/data/dataloader.py(721): __next__", 1 * kMillisecond);
    program.run(Kind::kAnnotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
  }
  Trace trace = program.build();
  trace.metadata.emplace_back("loader_workers", R"([{"workers":2,"persistent_workers":true}])");
  trace.metadata.emplace_back(
      "worker_lines",
      R"({"workers":2,"batches":4,"took_ns":32000000,"processor_ns":1,"lines":[["data.py",41,"__getitem__","",0.9]]})");
  EXPECT_TRUE(findings_of(trace, "loader_line").empty());
}

TEST(LoaderLineRule, leaves_it_to_workers_where_there_are_processors_for_them) {
  const Trace trace = training(8 * kMillisecond, "<built-in function decode>", "16");
  EXPECT_TRUE(findings_of(trace, "loader_line").empty());
  EXPECT_EQ(findings_of(trace, "data_loading").at(0).source, (SourceLine{"data.py", 41, "__getitem__"}));
}

TEST(LoaderLineRule, leaves_waiting_to_workers_even_on_one_processor) {
  const Trace trace = training(8 * kMillisecond, "<waits for sleep>");
  EXPECT_TRUE(findings_of(trace, "loader_line").empty());
  // The 2 ms that run and 10.2 of the rest have to share the processor.
  EXPECT_NEAR(likely_ms(findings_of(trace, "data_loading").at(0)), 20 - 12.2, kClose);
}

TEST(LoaderLineRule, is_silent_where_no_line_takes_much) {
  EXPECT_TRUE(findings_of(training(2 * kMillisecond, "<built-in function decode>"), "loader_line").empty());
}

// Steps of 20 ms that wait for two workers, of which each needs 40 for a batch, on two processors.
Trace with_workers(std::string_view lines) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.run(Kind::kAnnotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 15 * kMillisecond);
    program.run(Kind::kOperator, "aten::mm", 5 * kMillisecond);
  }
  Trace trace = program.build();
  trace.metadata.emplace_back("processors", "2");
  trace.metadata.emplace_back("loader_workers", R"([{"workers":2}])");
  trace.metadata.emplace_back(
      "worker_lines",
      R"({"workers":2,"batches":3,"took_ns":120000000,"processor_ns":120000000,"lines":)" + std::string(lines) + "}");
  return trace;
}

TEST(LoaderLineRule, knows_what_workers_spend_their_time_on) {
  // Two lines of one function, of which one waits at times.
  const Trace trace = with_workers(R"([["data.py",50,"load","",0.35],["data.py",41,"__getitem__","",0.3],
      ["data.py",40,"__getitem__","",0.2],["data.py",41,"__getitem__","file",0.1]])");
  const std::vector<Finding> findings = findings_of(trace, "loader_line");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 20 * 0.6, kClose);
  EXPECT_EQ(
      findings[0].explanation,
      "A batch takes a worker 40.0 ms, 60 % of it in data.py:41 (__getitem__). More workers would gain little: the "
      "program keeps the processors busy.");
}

TEST(LoaderLineRule, saves_no_more_than_the_wait) {
  // Without the line a step would take 1 ms, but 5 of it compute and a ready batch takes 0.2.
  const Trace trace = with_workers(R"([["data.py",41,"__getitem__","",0.95]])");
  EXPECT_NEAR(likely_ms(findings_of(trace, "loader_line").at(0)), 14.8, kClose);
}

TEST(LoaderLineRule, libraries_have_no_line) {
  EXPECT_TRUE(findings_of(with_workers(R"([["",0,"","",0.9]])"), "loader_line").empty());
}

const RuleSample kLine("loader_line", "computing",
                       [] { return training(8 * kMillisecond, "<built-in function decode>"); });
const RuleSample kPart("loader_line", "a good part",
                       [] { return training(4 * kMillisecond, "<built-in function decode>"); });
const RuleSample kSleep("loader_line", "sleeping", [] { return training(4 * kMillisecond, "<waits for sleep>"); });
const RuleSample kWorkers("loader_line", "workers",
                          [] { return with_workers(R"([["data.py",41,"__getitem__","",0.6]])"); });

}  // namespace
}  // namespace telltale
