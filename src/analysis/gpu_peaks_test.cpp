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
           Expected{"AMD Instinct MI300X VF", "MI300X"},
           Expected{"AMD Instinct MI325X", "MI325X"},
           Expected{"AMD Instinct MI355X", "MI355X"},
           Expected{"AMD Instinct MI210", "MI210"},
           Expected{"AMD Instinct MI250X/MI250", "MI250X"},
           Expected{"NVIDIA H20", "H20"},
           Expected{"NVIDIA GeForce RTX 5090", "RTX 5090"},
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

// What AMD's matrix cores do is compute units × clock × operations per clock: 1,024 in 16 bits on CDNA 2, 2,048 on CDNA
// 3 and 4,096 on CDNA 4; twice that in 8 bits from CDNA 3 on, 256 in fp32 on all of them.
TEST(GpuPeaks, of_amd_are_units_times_clock_times_operations) {
  struct Expected {
    std::string_view name;
    double units, gigahertz, half, eight_bits, fp64;
  };
  for (const auto& [name, units, gigahertz, half, eight_bits, fp64] : {
           Expected{"AMD Instinct MI210", 104, 1.7, 1024, 0, 256},
           Expected{"AMD Instinct MI250X", 110, 1.7, 1024, 0, 256},
           Expected{"AMD Instinct MI300X", 304, 2.1, 2048, 4096, 256},
           Expected{"AMD Instinct MI325X", 304, 2.1, 2048, 4096, 256},
           Expected{"AMD Instinct MI350X", 256, 2.2, 4096, 8192, 128},
           Expected{"AMD Instinct MI355X", 256, 2.4, 4096, 8192, 128},
       }) {
    const GpuPeaks peaks = peaks_named(name).value();
    const double clocks = units * gigahertz * 1e9;
    EXPECT_TRUE(is_amd(peaks));
    EXPECT_NEAR(peaks.half_flops / (clocks * half), 1, 0.001) << name;
    EXPECT_NEAR(peaks.fp8_flops, clocks * eight_bits, clocks) << name;
    EXPECT_NEAR(peaks.fp32_flops / (clocks * 256), 1, 0.001) << name;
    EXPECT_NEAR(peaks.fp64_flops / (clocks * fp64), 1, 0.001) << name;
  }
}

// HGX B200: 72 PFLOP/s in fp8 with sparsity for 8 GPUs, and 62 TB/s; GB200 NVL72: 720 PFLOP/s and 576 TB/s for 72.
TEST(GpuPeaks, of_blackwell_are_those_of_whole_systems_divided) {
  const GpuPeaks b200 = peaks_named("NVIDIA B200").value(), gb200 = peaks_named("NVIDIA GB200").value();
  EXPECT_FALSE(is_amd(b200));
  EXPECT_DOUBLE_EQ(b200.fp8_flops, 72e15 / 8 / 2);
  EXPECT_DOUBLE_EQ(b200.half_flops, 72e15 / 8 / 4);
  EXPECT_NEAR(b200.memory_bytes, 62e12 / 8, 0.1e12);
  EXPECT_DOUBLE_EQ(gb200.fp8_flops, 720e15 / 72 / 2);
  EXPECT_DOUBLE_EQ(gb200.tf32_flops, 720e15 / 72 / 8);
  EXPECT_DOUBLE_EQ(gb200.memory_bytes, 576e12 / 72);
}

TEST(GpuPeaks, of_8_bit_integers_do_not_need_fp8) {
  EXPECT_DOUBLE_EQ(peaks_named("NVIDIA A100-SXM4-80GB").value().int8_flops, 624e12);  // 1,248 with sparsity
  EXPECT_DOUBLE_EQ(peaks_named("Tesla T4").value().int8_flops, 130e12);
}

// As a vLLM container's ROCm describes an MI300X, and ROCm 6.2 a die of an MI250.
TEST(GpuPeaks, of_an_instinct_without_a_name_follow_from_its_description) {
  Device device;
  device.memory_bytes = 206'141'652'992;
  device.compute_major = 9;
  device.compute_minor = 4;
  device.multiprocessors = 304;
  device.warp_size = 64;
  EXPECT_EQ(peaks_of(device).value().name, "MI300X");
  EXPECT_EQ(shown_name(device), "AMD Instinct MI300X");

  device.multiprocessors = 38;  // a partition of one
  EXPECT_FALSE(peaks_of(device));
  EXPECT_EQ(shown_name(device), "");

  device = {};
  device.name = "AMD Radeon Graphics";
  device.memory_bytes = 68'702'699'520;
  device.compute_major = 9;
  device.compute_minor = 0;
  device.multiprocessors = 104;
  device.warp_size = 64;
  EXPECT_EQ(peaks_of(device).value().name, "MI250");
  EXPECT_EQ(shown_name(device), "AMD Radeon Graphics");
  device.name = "AMD Radeon VII";
  EXPECT_FALSE(peaks_of(device));
}

TEST(GpuPeaks, are_zero_for_units_that_a_device_lacks) {
  const GpuPeaks peaks = peaks_named("Tesla V100-SXM2-16GB").value();
  EXPECT_EQ(peaks.tf32_flops, 0);
  EXPECT_EQ(peaks.fp8_flops, 0);
  EXPECT_DOUBLE_EQ(peaks.half_flops, 125e12);
}

}  // namespace
}  // namespace telltale
