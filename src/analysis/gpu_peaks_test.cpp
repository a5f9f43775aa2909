#include "analysis/gpu_peaks.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

std::optional<GpuPeaks> peaks_named(std::string_view name) {
  Device device;
  device.name = name;
  return peaks_of(device);
}

TEST(GpuPeaks, are_found_by_the_names_that_drivers_report) {
  struct Expected {
    std::string_view device, row;
  };
  for (const auto& [device, row] : {
           Expected{"NVIDIA H200", "H200"},
           Expected{"NVIDIA H200 NVL", "H200 NVL"},
           Expected{"NVIDIA H100 80GB HBM3", "H100"},
           Expected{"NVIDIA H100 PCIe", "H100 PCIe"},
           Expected{"NVIDIA H100 NVL", "H100 NVL"},
           Expected{"NVIDIA GH200 480GB", "GH200 480GB"},
           Expected{"NVIDIA GH200 144G HBM3e", "GH200"},
           Expected{"NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"},
           Expected{"NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"},
           Expected{"A100-PCIE-40GB", "A100"},
           Expected{"Tesla V100-PCIE-32GB", "V100 PCIE"},
           Expected{"Tesla V100-SXM2-16GB", "V100"},
           Expected{"Tesla T4", "T4"},
           Expected{"NVIDIA A10", "A10"},
           Expected{"NVIDIA A10G", "A10G"},
           Expected{"NVIDIA L4", "L4"},
           Expected{"NVIDIA L40", "L40"},
           Expected{"NVIDIA L40S", "L40S"},
           Expected{"NVIDIA B200", "B200"},
           Expected{"NVIDIA GB200", "GB200"},
           Expected{"NVIDIA GeForce RTX 3090 Ti", "RTX 3090 Ti"},
           Expected{"NVIDIA GeForce RTX 4090", "RTX 4090"},
           Expected{"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"},
           Expected{"AMD Instinct MI300X", "MI300X"},
           Expected{"AMD Instinct MI250X/MI250", "MI250X"},
       }) {
    const auto peaks = peaks_named(device);
    ASSERT_TRUE(peaks) << device;
    EXPECT_EQ(peaks->name, row) << device;
  }
}

TEST(GpuPeaks, are_unknown_for_other_devices_and_for_parts_of_one) {
  for (const std::string_view name :
       {"", "-", "NVIDIA GeForce GTX 1080", "Intel Arc", "A1000", "H2000", "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA RTX 6000 Ada Max-Q"}) {
    EXPECT_FALSE(peaks_named(name)) << name;
  }
}

// NVIDIA's data sheet of the H200 SXM gives 67, 989, 1979 and 3958 TFLOP/s, the latter three with sparsity.
TEST(GpuPeaks, are_dense) {
  const GpuPeaks peaks = peaks_named("NVIDIA H200").value();
  EXPECT_NEAR(peaks.fp32_flops, 67e12, 0.5e12);
  EXPECT_NEAR(peaks.tf32_flops, 989e12 / 2, 1e12);
  EXPECT_NEAR(peaks.half_flops, 1979e12 / 2, 1e12);
  EXPECT_NEAR(peaks.fp8_flops, 3958e12 / 2, 1e12);
  EXPECT_DOUBLE_EQ(peaks.memory_bytes, 4.8e12);
}

TEST(GpuPeaks, are_zero_for_units_that_a_device_lacks) {
  const GpuPeaks peaks = peaks_named("Tesla V100-SXM2-16GB").value();
  EXPECT_EQ(peaks.tf32_flops, 0);
  EXPECT_EQ(peaks.fp8_flops, 0);
  EXPECT_DOUBLE_EQ(peaks.half_flops, 125e12);
}

}  // namespace
}  // namespace telltale
