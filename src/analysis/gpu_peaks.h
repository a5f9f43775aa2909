// What a GPU can do at best: the ceilings of the roofline.
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

// Dense, without sparsity, with sums in fp32; per second. Zero: the device has no such units.
struct GpuPeaks {
  std::string_view name;  // words of the device's own name: "A100 SXM4 80GB"
  double fp64_flops = 0;  // on tensor cores where they take it
  double fp32_flops = 0;  // without tensor cores, but for AMD's matrix cores, which compute in full fp32
  double tf32_flops = 0;
  double half_flops = 0;  // bf16 and fp16 on tensor cores
  double fp8_flops = 0;
  double int8_flops = 0;  // on tensor cores
  double memory_bytes = 0;
};

// Nothing for devices that are not in the table, nor for parts of one (MIG) and for laptops, which are slower than
// what they are named after. AMD's runtimes may leave the name empty or say "AMD Radeon Graphics"; then architecture,
// compute units and memory tell which of the Instincts it is.
std::optional<GpuPeaks> peaks_of(const Device& device);

bool is_amd(const GpuPeaks& peaks);

// What to call a device: its name or, where it has none, "AMD Instinct MI300X" by the same deduction. Empty when
// unknown.
std::string shown_name(const Device& device);

}  // namespace telltale
