#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

struct Program {
  std::string_view op = "aten::mm", shapes = "[[256,512],[512,512]]", type = "float";
  Nanoseconds call = 2 * kMillisecond;
  std::string_view bf16 = "1";  // what the recording says of the CPU
};

// Steps of one call on two tensors, and of 1 ms in an operator of unknown arguments.
Trace on_cpu(const Program& options) {
  ProgramSketch program;
  program.sketch().trace().recorded.shapes = true;
  if (!options.bf16.empty()) program.sketch().trace().metadata.emplace_back("bf16_instructions", options.bf16);
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(8): step");
    const auto op = program.run(Kind::kOperator, options.op, options.call);
    program.sketch().set_inputs(op, options.shapes);
    program.sketch().set_types(op, fmt::format(R"(["{0}","{0}"])", options.type));
    program.run(Kind::kOperator, "aten::other", 1 * kMillisecond);
    program.close();
  }
  return program.build();
}

std::vector<Finding> found_in(const Program& options) { return findings_of(on_cpu(options), "host_bf16"); }

// A slow CPU takes 6.7 ms for its 134 million operations, so none of the 2 ms is overhead; 46 % of them remain. 131,072
// and 262,144 elements go in and 131,072 come out: 524,288 at 2 billion a second take 262 µs.
TEST(HostBf16Rule, products_take_half_as_long_and_casts_are_counted) {
  const std::vector<Finding> findings = found_in({});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 * 0.54 - 0.262, 0.01);
  EXPECT_EQ(findings[0].fix.id, "bf16");
}

// A row and 16,777,216 weights, in a block of 32 MiB: to turn them into bfloat16 takes 34 ms.
TEST(HostBf16Rule, is_silent_where_casts_take_longer) {
  EXPECT_TRUE(found_in({.shapes = "[[16,4096],[4096,4096]]", .call = 20 * kMillisecond}).empty());
}

TEST(HostBf16Rule, is_silent_about_short_products) {
  EXPECT_TRUE(found_in({.call = 90 * kMicrosecond}).empty());
  EXPECT_TRUE(found_in({.shapes = "[[32,64],[64,64]]"}).empty()) << "it takes long, but not to multiply";
}

TEST(HostBf16Rule, is_silent_where_the_cpu_has_no_instructions_for_it_or_nothing_is_known) {
  EXPECT_TRUE(found_in({.bf16 = "0"}).empty());
  EXPECT_TRUE(found_in({.bf16 = ""}).empty());
}

TEST(HostBf16Rule, is_silent_about_other_types_and_operators) {
  EXPECT_TRUE(found_in({.type = "c10::BFloat16"}).empty());
  EXPECT_TRUE(found_in({.type = "double"}).empty());
  EXPECT_TRUE(found_in({.op = "aten::add"}).empty());
}

const RuleSample kProducts("host_bf16", "products", [] { return on_cpu({}); });

}  // namespace
}  // namespace telltale
