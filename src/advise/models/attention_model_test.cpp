#include "advise/models/attention_model.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

const GpuPeaks kPeaks = {.name = "H200",
                         .fp32_flops = 67e12,
                         .tf32_flops = 494.7e12,
                         .half_flops = 989.4e12,
                         .fp8_flops = 0,
                         .memory_bytes = 4.8e12};

double microseconds(const AttentionSize& size, AttentionPass pass, bool is_in_16_bits) {
  return 1e6 * fused_attention_seconds(size, pass, is_in_16_bits, kPeaks);
}

// As recorded on an H200, within a fifth.
void expect_recorded(double recorded, const AttentionSize& size, AttentionPass pass, bool is_in_16_bits) {
  EXPECT_NEAR(microseconds(size, pass, is_in_16_bits), recorded, 0.2 * recorded)
      << size.heads << " heads, " << size.rows << " rows";
}

TEST(AttentionModel, takes_what_was_recorded_in_16_bits) {
  expect_recorded(57.6, {128, 1024, 1024, 64, true}, AttentionPass::kForward, true);
  expect_recorded(204.6, {128, 1024, 1024, 64, true}, AttentionPass::kBackward, true);
  expect_recorded(27.6, {48, 1024, 1024, 64, true}, AttentionPass::kForward, true);
  expect_recorded(172.1, {3072, 197, 197, 64, false}, AttentionPass::kForward, true);
  expect_recorded(592.5, {3072, 197, 197, 64, false}, AttentionPass::kBackward, true);
}

TEST(AttentionModel, takes_what_was_recorded_in_fp32) {
  expect_recorded(391.7, {768, 197, 197, 64, false}, AttentionPass::kForward, false);
  expect_recorded(897.8, {768, 197, 197, 64, false}, AttentionPass::kBackward, false);
  expect_recorded(269.5, {128, 512, 512, 64, false}, AttentionPass::kForward, false);
}

// 32 heads of 128 numbers each for 8,192 keys and as many values, in 2 bytes: 134 MB, for which 0.65 of 4.8 TB/s take
// 43 µs, and starting the kernel 4.
TEST(AttentionModel, a_single_query_waits_for_keys_and_values) {
  EXPECT_NEAR(microseconds({32, 1, 8192, 128, true}, AttentionPass::kForward, true), 43.0 + 4, 0.1);
}

TEST(AttentionModel, knows_nothing_of_a_device_without_peaks) {
  EXPECT_EQ(fused_attention_seconds({32, 128, 128, 64, false}, AttentionPass::kForward, true, GpuPeaks{}), 0);
}

}  // namespace
}  // namespace telltale
