#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kFloat = R"(["float", "float"])", kBrain = R"(["c10::BFloat16", "c10::BFloat16"])";

// 30 MiB by operators that compute in one type, 10 MiB in another.
Trace program(std::string_view most, std::string_view rest) {
  MemorySketch sketch;
  for (int step = 0; step < 2; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 20 * kMebi, most);
    sketch.keep("aten::mm", 10 * kMebi, most);
    sketch.keep("aten::mm", 10 * kMebi, rest);
    sketch.backward();
    sketch.optimize();
  }
  return sketch.build();
}

std::vector<Finding> found(const Trace& trace) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "wide_activations"; });
  return findings;
}

TEST(WideActivationsRule, halves_what_operators_in_float32_keep) {
  const std::vector<Finding> findings = found(program(kFloat, kBrain));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (20 + 10) * kMebi / 2);
  EXPECT_EQ(findings[0].fix.id, "bf16");
}

TEST(WideActivationsRule, is_silent_in_16_bits_and_where_types_were_not_recorded) {
  EXPECT_TRUE(found(program(kBrain, kBrain)).empty());
  EXPECT_TRUE(found(program({}, {})).empty());
}

// What the newest of six steps made at the leaking line is still its own.
TEST(WideActivationsRule, leaves_out_what_leaks) {
  MemorySketch sketch;
  for (int step = 0; step < 6; ++step) {
    sketch.begin_step();
    sketch.leave("aten::mul", 10 * kMebi, "train.py(7): step", kFloat);
    sketch.keep("aten::mm", 20 * kMebi, kFloat);
    sketch.backward();
    sketch.optimize();
  }
  const std::vector<Finding> findings = found(sketch.build());
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (10 + 20) * kMebi / 2);
}

Trace training(std::string_view kept_for, std::int64_t gradients, DeviceId device = kHost) {
  MemorySketch sketch(device);
  for (int step = 0; step < 2; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 20 * kMebi, kFloat);
    sketch.keep("aten::cat", 30 * kMebi, R"(["TensorList", "Scalar"])", kept_for);
    sketch.backward(gradients);
    sketch.optimize();
  }
  return sketch.build();
}

// Autocast computes losses in float32, and on devices softmax too.
TEST(WideActivationsRule, leaves_wide_what_autocast_needs_in_float32) {
  EXPECT_EQ(found(training("Mm", 0)).at(0).saving_bytes, (20 + 30) * kMebi / 2);
  EXPECT_EQ(found(training("LogSoftmax", 0)).at(0).saving_bytes, 20 * kMebi / 2);
  EXPECT_EQ(found(training("Softmax", 0)).at(0).saving_bytes, (20 + 30) * kMebi / 2);
  EXPECT_EQ(found(training("Softmax", 0, 0)).at(0).saving_bytes, 20 * kMebi / 2);
}

TEST(WideActivationsRule, counts_narrow_copies_of_weights_until_their_gradients_are_made) {
  EXPECT_EQ(found(training("Mm", 16 * kMebi)).at(0).saving_bytes, ((20 + 30) / 2 - 8) * kMebi);
}

// 20 MiB are kept, and 8 are made beside them in the backward pass of a product or of a loss.
TEST(WideActivationsRule, halves_what_flows_backward_through_products) {
  const auto saved = [](std::string_view differentiated) {
    MemorySketch sketch;
    for (int step = 0; step < 2; ++step) {
      sketch.begin_step();
      sketch.keep("aten::mm", 20 * kMebi, kFloat);
      sketch.flow_back("aten::mm", 8 * kMebi, kFloat, differentiated);
      sketch.backward();
      sketch.optimize();
    }
    return found(sketch.build()).at(0).saving_bytes;
  };
  EXPECT_EQ(saved("Addmm"), (20 + 8) * kMebi / 2);
  EXPECT_EQ(saved("LogSoftmax"), 20 * kMebi / 2);
}

TEST(WideActivationsRule, is_silent_under_autocast_which_keeps_some_operators_in_float32) {
  MemorySketch sketch;
  for (int step = 0; step < 2; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 10 * kMebi, kBrain);
    sketch.keep("aten::_log_softmax", 30 * kMebi, kFloat);
    sketch.backward();
    sketch.optimize();
  }
  EXPECT_TRUE(found(sketch.build()).empty());
}

TEST(WideActivationsRule, counts_no_operator_that_also_reads_16_bits) {
  EXPECT_TRUE(found(program(R"(["float", "c10::BFloat16"])", kBrain)).empty());
}

}  // namespace
}  // namespace telltale
