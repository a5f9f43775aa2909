// What a GPU can do at best: the ceilings of the roofline.
#pragma once

#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

// Dense, without sparsity; per second. Zero: the device has no such units.
struct GpuPeaks {
  std::string_view name;  // a part of the device's own name: "H200"
  double fp32_flops = 0;
  double tf32_flops = 0;
  double half_flops = 0;  // bf16 and fp16 on tensor cores
  double fp8_flops = 0;
  double memory_bytes = 0;
};

// Nothing for devices that are not in the table.
std::optional<GpuPeaks> peaks_of(const Device& device);

}  // namespace telltale
