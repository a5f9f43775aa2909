#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kDoubles = R"(["double","double","Scalar"])", kHalves = R"(["c10::Half","c10::Half"])";

struct Program {
  std::string_view op = "aten::add", shapes = "[[100000],[100000],[]]", types = kDoubles;
  Nanoseconds call = 1 * kMillisecond;
};

// Steps of one call, and of 1 ms in an operator of unknown arguments.
Trace on_cpu(const Program& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    const auto op = program.run(Kind::kOperator, options.op, options.call);
    program.sketch().set_inputs(op, options.shapes);
    program.sketch().set_types(op, options.types);
    program.run(Kind::kOperator, "aten::other", 1 * kMillisecond);
    program.close();
  }
  return program.build();
}

std::vector<Finding> found_in(const Program& options) { return findings_of(on_cpu(options), "slow_host_types"); }

// Of 1 ms, 20 µs may be overhead; of the rest, 47 % remain.
TEST(SlowHostTypesRule, float64_takes_twice_as_long_as_float32) {
  const std::vector<Finding> findings = found_in({});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.98 * 0.53, 0.01);
  EXPECT_EQ(findings[0].title, "The step computes in float64");
  EXPECT_EQ(findings[0].fix.id, "float32");
}

// Of 1 ms, 50 µs may be overhead; of the rest, 30 % remain.
TEST(SlowHostTypesRule, convolutions_gain_more) {
  const std::vector<Finding> findings = found_in({.op = "aten::mkldnn_convolution"});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * 0.7, 0.01);
}

// 2,000,000 operations take a slow CPU 100 µs in float32, and 20 are overhead: 1 ms is 8 times as long. At 60 billion a
// second they take 33.3 µs, and their 120,000 bytes 12.
TEST(SlowHostTypesRule, float16_without_instructions_for_it_takes_many_times_as_long) {
  const Program program{.op = "aten::mm", .shapes = "[[100,100],[100,100]]", .types = kHalves};
  const std::vector<Finding> findings = found_in(program);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 1 - 0.0653, 0.01);
  EXPECT_EQ(findings[0].title, "This CPU is slow at float16");
}

TEST(SlowHostTypesRule, is_silent_where_float16_is_about_as_fast) {
  EXPECT_TRUE(
      found_in({.op = "aten::mm", .shapes = "[[100,100],[100,100]]", .types = kHalves, .call = 300 * kMicrosecond})
          .empty());
}

TEST(SlowHostTypesRule, is_silent_about_other_types) {
  EXPECT_TRUE(found_in({.types = R"(["float","float","Scalar"])"}).empty());
  EXPECT_TRUE(found_in({.types = R"(["float","double","Scalar"])"}).empty()) << "a conversion";
  EXPECT_TRUE(found_in({.types = R"(["long int","long int","Scalar"])"}).empty());
}

TEST(SlowHostTypesRule, is_silent_about_operators_that_are_overhead) {
  EXPECT_TRUE(found_in({.shapes = "[[10],[10],[]]", .call = 15 * kMicrosecond}).empty());
}

const RuleSample kWide("slow_host_types", "float64", [] { return on_cpu({}); });
const RuleSample kHalf("slow_host_types", "float16",
                       [] { return on_cpu({.op = "aten::mm", .shapes = "[[100,100],[100,100]]", .types = kHalves}); });

}  // namespace
}  // namespace telltale
