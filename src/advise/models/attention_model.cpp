#include "advise/models/attention_model.h"

#include <algorithm>
#include <cmath>

namespace telltale {
namespace {

// Kernels compute whole tiles of scores.
constexpr double kTile = 128;
// Products of the backward pass for each of the two of the forward pass, whose scores it computes again.
constexpr double kProducts = 2, kProductsOfBackward = 5;

// What kernels reach of a peak, counted in whole tiles. In 16 bits: cuDNN's flash attention on an H200 with heads of
// 64, sequences of 197 to 1,024 and 6 to 130 billion operations: 0.28 to 0.34 forward and 0.19 to 0.24 backward in
// eager_attention (fixed), empty_cache_every_step, tokeniser_in_python, cpu_built_masks and healthy_vit. In fp32: the
// memory-efficient kernels, which make three products in TF32 for each one: 0.20 and 0.21 of a third of TF32's peak in
// vit_fp32 and encoder_in_fp32.
constexpr double kReachedIn16Bits = 0.31, kReachedIn16BitsBackward = 0.23;
constexpr double kReachedInFp32 = 0.2;
constexpr double kProductsForFp32 = 3;
// Of the bandwidth, for few queries and many keys.
constexpr double kReachedBandwidth = 0.65;
// What starting its kernels takes: one forward, and four backward (a sum of rows, the main one, a cast, a fill).
constexpr double kShortestForward = 4e-6, kShortestBackward = 12e-6;

double whole_tiles(double size) { return std::ceil(size / kTile) * kTile; }

// Of all pairs of a query and a key.
double share_of_pairs(const AttentionSize& size) {
  if (!size.is_causal || size.rows != size.columns) return 1;
  return (1 + kTile / whole_tiles(size.columns)) / 2;
}

double reached_flops(AttentionPass pass, bool is_in_16_bits, const GpuPeaks& peaks) {
  if (!is_in_16_bits) return kReachedInFp32 * peaks.tf32_flops / kProductsForFp32;
  return (pass == AttentionPass::kForward ? kReachedIn16Bits : kReachedIn16BitsBackward) * peaks.half_flops;
}

}  // namespace

double fused_attention_seconds(const AttentionSize& size, AttentionPass pass, bool is_in_16_bits,
                               const GpuPeaks& peaks) {
  const double flops_per_second = reached_flops(pass, is_in_16_bits, peaks);
  if (flops_per_second <= 0 || peaks.memory_bytes <= 0) return 0;
  const bool is_forward = pass == AttentionPass::kForward;
  // A single query takes no tile.
  const double rows = size.rows == 1 ? 1 : whole_tiles(size.rows);
  const double pairs = size.heads * rows * whole_tiles(size.columns) * share_of_pairs(size);
  const double flops = 2 * size.width * pairs * (is_forward ? kProducts : kProductsOfBackward);
  // Queries, keys, values and the result; the backward pass reads these and the gradient, and writes three more.
  const double elements = size.heads * size.width * (2 * size.rows + 2 * size.columns) * (is_forward ? 1 : 2);
  const double bytes = elements * (is_in_16_bits ? 2 : 4);
  return std::max(flops / flops_per_second, bytes / (kReachedBandwidth * peaks.memory_bytes)) +
         (is_forward ? kShortestForward : kShortestBackward);
}

}  // namespace telltale
