// What fused attention, torch's scaled_dot_product_attention, takes on a device.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>

#include "analysis/gpu_peaks.h"

namespace telltale {

// Attention of `rows` queries to `columns` keys, in heads that are `width` wide; `heads` of all samples together.
struct AttentionSize {
  double heads = 0, rows = 0, columns = 0, width = 0;
  bool is_causal = false;  // queries see only what comes before them, and the kernels leave out the rest
};

enum class AttentionPass : std::uint8_t { kForward, kBackward };

// At least what its operations and its tensors take; 0 where the device's peaks are not known.
double fused_attention_seconds(const AttentionSize& size, AttentionPass pass, bool is_in_16_bits,
                               const GpuPeaks& peaks);

}  // namespace telltale
