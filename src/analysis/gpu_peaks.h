// What a GPU can do at best: the ceilings of the roofline.
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

// Dense, without sparsity, with sums in fp32; per second. Zero: the device has no such units.
struct GpuPeaks {
  std::string_view name;  // words of the device's own name: "A100 SXM4 80GB"
  double fp32_flops = 0;  // without tensor cores, but for AMD's matrix cores, which compute in full fp32
  double tf32_flops = 0;
  double half_flops = 0;  // bf16 and fp16 on tensor cores
  double fp8_flops = 0;
  double memory_bytes = 0;
};

// Nothing for devices that are not in the table, nor for parts of one (MIG) and for laptops, which are slower than
// what they are named after.
std::optional<GpuPeaks> peaks_of(const Device& device);

}  // namespace telltale
