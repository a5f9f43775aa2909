#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kWhole = "[[16384,2048],[]]", kSums = "[[16384,1],[],[]]",
                           kScaled = "[[16384,2048],[16384,1]]", kWeighted = "[[2048],[16384,2048]]",
                           kTwo = "[[16384,2048],[16384,2048],[]]";
constexpr std::string_view kFloats = R"(["float","float",""])", kNarrowed = R"(["c10::BFloat16","float",""])",
                           kWidened = R"(["float","c10::BFloat16",""])";

struct Piece {
  std::string_view op, shapes, types = kFloats;
};

const std::vector<Piece> kRms = {{"aten::copy_", kTwo, kWidened},  {"aten::pow", kWhole},
                                 {"aten::mean", kWhole},           {"aten::add", kSums},
                                 {"aten::rsqrt", kSums},           {"aten::mul", kScaled},
                                 {"aten::copy_", kTwo, kNarrowed}, {"aten::mul", kWeighted}};

// A residual is added, pieces of 1 ms each follow, each with a backward operator of 1 ms where there are any; then the
// host thinks, or waits.
Trace training(const std::vector<Piece>& pieces, bool has_backward = false, Nanoseconds thinking = 0) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  program.sketch().trace().recorded.shapes = true;
  const auto call = [&](const Piece& piece) {
    const ProgramSketch::Handle op = program.open(Kind::kOperator, piece.op);
    program.sketch().set_inputs(op, piece.shapes);
    program.sketch().set_types(op, piece.types);
    program.launch("cudaLaunchKernel", Kind::kKernel, "elementwise_kernel", kMillisecond);
    program.close();
    return op;
  };
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "model.py(73): forward");
    call({"aten::add", kTwo});
    std::vector<ProgramSketch::Handle> forward;
    for (const Piece& piece : pieces) forward.push_back(call(piece));
    call({"aten::add", kTwo});
    program.close();
    for (std::size_t i = forward.size(); has_backward && i-- > 0;) {
      program.sketch().set_cause(program.open(Kind::kOperator, "SomeBackward0"), forward[i]);
      call({"aten::grad", kWhole});
      program.close();
    }
    if (thinking > 0)
      program.run(Kind::kOperator, "aten::think", thinking);
    else
      program.wait();
  }
  return program.build();
}

// Three passes over 16384 · 2048 numbers of 2 bytes at half of 4.8 TB/s take 84 µs.
TEST(UnfusedNormRule, three_passes_over_the_narrow_tensor_remain) {
  const std::vector<Finding> findings = findings_of(training(kRms), "unfused_norm");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 8 - 0.084, 0.02);
  EXPECT_EQ(findings[0].fix.id, "fuse_norm");
  EXPECT_EQ(findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(findings[0].source, (SourceLine{"model.py", 73, "forward"}));
  EXPECT_EQ(findings[0].explanation,
            "Written out once per step, normalization takes 8.00 ms (80 %) in 8 kernels, most of which pass the whole "
            "tensor through memory.");
}

TEST(UnfusedNormRule, the_backward_pass_moves_twice_as_much) {
  const std::vector<Finding> findings = findings_of(training(kRms, true), "unfused_norm");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 16 - 3 * 0.084, 0.05);
}

TEST(UnfusedNormRule, knows_layer_norms_with_variance_or_deviation) {
  const std::vector<Piece> with_variance = {{"aten::mean", kWhole}, {"aten::var", kWhole}, {"aten::sub", kScaled},
                                            {"aten::add", kSums},   {"aten::sqrt", kSums}, {"aten::div", kScaled}};
  const std::vector<Piece> with_deviation = {{"aten::mean", kWhole},
                                             {"aten::std", kWhole},
                                             {"aten::sub", kScaled},
                                             {"aten::add", kSums},
                                             {"aten::div", kScaled}};
  const std::vector<Finding> variance = findings_of(training(with_variance), "unfused_norm");
  const std::vector<Finding> deviation = findings_of(training(with_deviation), "unfused_norm");
  ASSERT_EQ(variance.size(), 1);
  ASSERT_EQ(deviation.size(), 1);
  EXPECT_NEAR(likely_ms(variance[0]), 6 - 2 * 0.084, 0.02);
  EXPECT_NEAR(likely_ms(deviation[0]), 5 - 2 * 0.084, 0.02);
}

TEST(UnfusedNormRule, is_silent_about_a_root_that_divides_nothing_or_something_else) {
  EXPECT_TRUE(
      findings_of(training({{"aten::pow", kWhole}, {"aten::mean", kWhole}, {"aten::sqrt", kSums}}), "unfused_norm")
          .empty());
  EXPECT_TRUE(
      findings_of(training({{"aten::mean", kWhole}, {"aten::sqrt", kSums}, {"aten::div", "[[16384,8],[16384,1]]"}}),
                  "unfused_norm")
          .empty());
}

TEST(UnfusedNormRule, is_silent_when_the_host_takes_longer) {
  EXPECT_TRUE(findings_of(training(kRms, false, 60 * kMillisecond), "unfused_norm").empty());
}

const RuleSample kOneNorm("unfused_norm", "one norm", [] { return training(kRms); });

}  // namespace
}  // namespace telltale
