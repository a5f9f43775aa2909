#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kSum = "[[100000],[100000],[]]", kProduct = "[[100,100],[100,100]]";

struct Program {
  std::string_view op = "aten::add", shapes = kSum;
  Nanoseconds call = 200 * kMicrosecond;  // how long each of ten calls takes
  int threads = 16, processors = 2;
  double busy = -1, own = -1;  // processors on average; negative: not measured
  Nanoseconds batch = 0;       // what one takes a worker; 0: no workers
  std::string_view type = "float";
  Nanoseconds small = 0;  // what a small operator takes behind the calls; 0: there is none
};

// Steps of ten calls, and of 1 ms in an operator of unknown arguments.
Trace on_cpu(const Program& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    for (int call = 0; call < 10; ++call) {
      const auto op = program.run(Kind::kOperator, options.op, options.call);
      program.sketch().set_inputs(op, options.shapes);
      program.sketch().set_types(op, fmt::format(R"(["{0}","{0}","Scalar"])", options.type));
    }
    if (options.small > 0) {
      const auto op = program.run(Kind::kOperator, "aten::add", options.small);
      program.sketch().set_inputs(op, "[[1000],[1000],[]]");
      program.sketch().set_types(op, R"(["float","float","Scalar"])");
    }
    program.run(Kind::kOperator, "aten::other", 1 * kMillisecond);
    program.close();
  }
  Trace trace = built_on(program, {options.processors, options.threads, options.busy, options.own});
  if (options.batch > 0)
    trace.metadata.emplace_back(
        "worker_lines",
        fmt::format(R"({{"workers":2,"batches":1,"took_ns":{0},"processor_ns":{0},"lines":[]}})", options.batch));
  return trace;
}

std::vector<Finding> found_in(const Program& options) { return findings_of(on_cpu(options), "many_threads"); }

// Waking 16 threads on 2 processors takes 16 × (2 + 12 / 2) = 128 µs; the other 72 µs would take 72 / 1.3 = 55.4.
TEST(ManyThreadsRule, waking_more_threads_than_processors_costs_every_divided_operator) {
  const std::vector<Finding> findings = found_in({});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * (0.2 - 0.0554), 0.02);
  EXPECT_EQ(findings[0].title, "torch computes with 16 threads on 2 processors");
  EXPECT_EQ(findings[0].fix.code, "+ torch.set_num_threads(2)");
  EXPECT_EQ(findings[0].confidence, Confidence::kMedium);
}

// 2,000,000 operations on 2 threads take 16.7 µs at 60 billion a second, 120,000 bytes 6 µs, and 20 are overhead.
// What waking leaves, (500 - 1.7 × 128) / 1.3 = 217 µs, is more than that.
TEST(ManyThreadsRule, operators_take_no_longer_than_their_shapes_explain) {
  const std::vector<Finding> findings = found_in({.op = "aten::mm", .shapes = kProduct, .call = 500 * kMicrosecond});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * (0.5 - 0.0427), 0.02);
}

// (1,000 - 3 × 128) / 1.3 = 473.8 µs.
TEST(ManyThreadsRule, convolutions_wake_threads_several_times) {
  const std::vector<Finding> findings = found_in({.op = "aten::mkldnn_convolution", .call = 1 * kMillisecond});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * (1 - 0.4738), 0.02);
}

TEST(ManyThreadsRule, what_one_thread_computes_stays) {
  EXPECT_TRUE(found_in({.shapes = "[[1000],[1000],[]]"}).empty()) << "too small to be divided";
  EXPECT_TRUE(found_in({.call = 100 * kMicrosecond}).empty()) << "shorter than waking all threads takes";
}

// Processors are there for one thread, which takes 120 µs for the bytes at 10 billion a second, and 20 are overhead;
// twice as long as each of the present two has a processor for half of the time.
TEST(ManyThreadsRule, threads_that_lose_their_processor_hold_up_the_others) {
  const std::vector<Finding> findings = found_in({.call = 10 * kMillisecond, .threads = 2, .busy = 2, .own = 1});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * (10 - 0.28), 0.05);
  EXPECT_EQ(findings[0].fix.code, "+ torch.set_num_threads(1)");
  EXPECT_EQ(findings[0].confidence, Confidence::kLow);
  EXPECT_TRUE(found_in({.call = 2 * kMillisecond, .threads = 2, .busy = 2, .own = 1}).empty())
      << "as long as it may take a single thread on a slow processor";
}

// A small addition on one thread takes 1.2 µs for its bytes and 20 of overhead: of the 6 ms of operators that are not
// divided, 4.979 are waiting. With as much waiting, the others would take 140 × 6 / 1.021 = 823 µs.
TEST(ManyThreadsRule, a_single_thread_loses_its_processor_too) {
  const std::vector<Finding> findings =
      found_in({.call = 10 * kMillisecond, .threads = 2, .busy = 2, .own = 1, .small = 5 * kMillisecond});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 10 * (10 - 0.823), 0.1);
}

// A batch of 100 ms for each step of 101 keeps 0.99 processors busy.
TEST(ManyThreadsRule, workers_take_processors_as_well) {
  const Program program{.call = 10 * kMillisecond, .threads = 2, .busy = 2, .own = 2, .batch = 100 * kMillisecond};
  const std::vector<Finding> findings = found_in(program);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_TRUE(findings[0].explanation.contains("the workers that load data keep 0.99 busy"));
}

TEST(ManyThreadsRule, is_silent_where_threads_have_their_processors) {
  EXPECT_TRUE(found_in({.call = 10 * kMillisecond, .threads = 2}).empty());
  EXPECT_TRUE(found_in({.call = 10 * kMillisecond, .threads = 2, .busy = 2, .own = 1.9}).empty());
  EXPECT_TRUE(found_in({.call = 10 * kMillisecond, .threads = 1, .busy = 2, .own = 1}).empty());
}

// Slow for its type, perhaps: what it would take is not known.
TEST(ManyThreadsRule, is_silent_about_float16_beside_others) {
  EXPECT_TRUE(found_in({.call = 10 * kMillisecond, .threads = 2, .busy = 2, .own = 1, .type = "c10::Half"}).empty());
}

const RuleSample kAlone("many_threads", "alone", [] { return on_cpu({}); });
const RuleSample kBesideOthers("many_threads", "beside others",
                               [] { return on_cpu({.call = 500 * kMicrosecond, .busy = 2, .own = 1}); });
const RuleSample kAmongOthers("many_threads", "few threads among others",
                              [] { return on_cpu({.call = 10 * kMillisecond, .threads = 2, .busy = 2, .own = 1}); });
const RuleSample kAmongWorkers("many_threads", "few threads among workers", [] {
  return on_cpu({.call = 10 * kMillisecond, .threads = 2, .batch = 100 * kMillisecond});
});
const RuleSample kAmongBoth("many_threads", "beside others and workers", [] {
  return on_cpu(
      {.call = 500 * kMicrosecond, .threads = 64, .processors = 8, .busy = 8, .own = 6, .batch = 4 * kMillisecond});
});

}  // namespace
}  // namespace telltale
