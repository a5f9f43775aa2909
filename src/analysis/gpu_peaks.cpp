#include "analysis/gpu_peaks.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace telltale {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;

// TFLOP/s and GB/s as in the vendors' data sheets; numbers given with sparsity are halved. NVIDIA's B200 and GB200 are
// those of the HGX B200 and the GB200 NVL72; GeForce and Ada with sums in fp32, from the architectures' white papers.
constexpr GpuPeaks peaks(std::string_view name, double fp64, double fp32, double tf32, double half, double fp8,
                         double int8, double memory) {
  return {name, fp64 * kTera, fp32 * kTera, tf32 * kTera, half * kTera, fp8 * kTera, int8 * kTera, memory * kGiga};
}

// A row is meant when all words of its name are words of the device's. Of several the first one counts, so what is
// more specific comes first.
constexpr GpuPeaks kTable[] = {
    peaks("V100S", 8.2, 16.4, 0, 130, 0, 0, 1134),
    peaks("V100 PCIE", 7, 14, 0, 112, 0, 0, 900),
    peaks("V100", 7.8, 15.7, 0, 125, 0, 0, 900),
    peaks("T4", 0.25, 8.1, 0, 65, 0, 130, 320),
    peaks("A10", 0.98, 31.2, 62.5, 125, 0, 250, 600),
    peaks("A10G", 0.98, 31.5, 35, 70, 0, 140, 600),
    peaks("A30", 10.3, 10.3, 82, 165, 0, 330, 933),
    peaks("A40", 0.58, 37.4, 74.8, 149.7, 0, 299.3, 696),
    peaks("A100 SXM4 80GB", 19.5, 19.5, 156, 312, 0, 624, 2039),
    peaks("A100 PCIe 80GB", 19.5, 19.5, 156, 312, 0, 624, 1935),
    peaks("A100 80GB", 19.5, 19.5, 156, 312, 0, 624, 2039),
    peaks("A100", 19.5, 19.5, 156, 312, 0, 624, 1555),
    peaks("A800 80GB", 19.5, 19.5, 156, 312, 0, 624, 2039),
    peaks("A800", 19.5, 19.5, 156, 312, 0, 624, 1555),
    peaks("L4", 0.47, 30.3, 60, 121, 242.5, 242.5, 300),
    peaks("L20", 0.93, 59.8, 59.8, 119.5, 239, 239, 864),
    peaks("L40", 1.4, 90.5, 90.5, 181, 362, 362, 864),
    peaks("L40S", 1.4, 91.6, 183, 362, 733, 733, 864),
    peaks("H20", 1, 44, 74, 148, 296, 296, 4000),
    peaks("H100 PCIe", 51, 51, 378, 756, 1513, 1513, 2000),
    peaks("H100 NVL", 60, 60, 417.5, 835.5, 1671, 1671, 3900),
    peaks("H100", 67, 67, 494.7, 989.4, 1978.9, 1978.9, 3350),
    peaks("H800", 1, 67, 494.7, 989.4, 1978.9, 1978.9, 3350),
    peaks("H200 NVL", 60, 60, 417.5, 835.5, 1671, 1671, 4800),
    peaks("H200", 67, 67, 494.7, 989.4, 1978.9, 1978.9, 4800),
    peaks("GH200 480GB", 67, 67, 494.7, 989.4, 1978.9, 1978.9, 4000),
    peaks("GH200", 67, 67, 494.7, 989.4, 1978.9, 1978.9, 4900),
    peaks("B100", 30, 60, 900, 1750, 3500, 3500, 8000),
    peaks("B200", 37, 75, 1100, 2250, 4500, 4500, 7700),
    peaks("GB200", 40, 80, 1250, 2500, 5000, 5000, 8000),
    peaks("RTX 3090 Ti", 0.63, 40, 40, 80, 0, 320, 1008),
    peaks("RTX 3090", 0.56, 35.6, 35.6, 71, 0, 284, 936),
    peaks("RTX 4090 D", 1.15, 73.5, 73.5, 147, 294, 588, 1008),
    peaks("RTX 4090", 1.29, 82.6, 82.6, 165.2, 330.3, 660.6, 1008),
    peaks("RTX 5090 D", 1.64, 104.8, 104.8, 209.5, 419, 838, 1792),
    peaks("RTX 5090", 1.64, 104.8, 104.8, 209.5, 419, 838, 1792),
    peaks("RTX A6000", 0.6, 38.7, 77.4, 154.8, 0, 309.7, 768),
    peaks("RTX 6000 Ada", 1.42, 91.1, 182.1, 364.2, 728.5, 728.5, 960),
    // AMD's matrix cores. Each of the two dies of an MI250 is a device of its own. The MI300's tf32 is called xf32 and
    // was dropped with the MI350.
    peaks("MI210", 45.3, 45.3, 0, 181, 0, 181, 1638),
    peaks("MI250X", 47.9, 47.9, 0, 191.5, 0, 191.5, 1638),
    peaks("MI250", 45.3, 45.3, 0, 181, 0, 181, 1638),
    peaks("MI300A", 122.6, 122.6, 490.3, 980.6, 1961.2, 1961.2, 5300),
    peaks("MI300X", 163.4, 163.4, 653.7, 1307.4, 2614.9, 2614.9, 5300),
    peaks("MI325X", 163.4, 163.4, 653.7, 1307.4, 2614.9, 2614.9, 6000),
    peaks("MI350X", 72.1, 144.2, 0, 2306.9, 4613.7, 4613.7, 8000),
    peaks("MI355X", 78.6, 157.3, 0, 2516.6, 5033.2, 5033.2, 8000),
};

// What the devices are that AMD's runtimes do not name.
struct Instinct {
  int compute_major, compute_minor;  // gfx90a is 9.0, gfx942 9.4, gfx950 9.5
  int compute_units;
  int memory_gigabytes;
  std::string_view name;
};
constexpr Instinct kInstincts[] = {
    {9, 0, 104, 64, "MI250"},   {9, 0, 110, 64, "MI250X"},  {9, 4, 228, 128, "MI300A"},
    {9, 4, 304, 192, "MI300X"}, {9, 4, 304, 256, "MI325X"},
};

bool are_equal_words(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// The first word, taken off the text; empty at its end. "A100-SXM4-80GB" is three words, as is "A100 SXM4 80GB".
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kBetweenWords = " -/";
  text.remove_prefix(std::min(text.find_first_not_of(kBetweenWords), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBetweenWords));
  text.remove_prefix(word.size());
  return word;
}

bool has_word(std::string_view text, std::string_view wanted) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text))
    if (are_equal_words(word, wanted)) return true;
  return false;
}

bool has_all_words(std::string_view text, std::string_view wanted) {
  for (std::string_view word = take_word(wanted); !word.empty(); word = take_word(wanted))
    if (!has_word(text, word)) return false;
  return true;
}

// Somewhat less than its nominal memory is a program's to use.
bool is_meant(const Instinct& instinct, const Device& device) {
  constexpr double kLeastUsable = 0.95, kGibi = 1024.0 * 1024 * 1024;
  const double gigabytes = static_cast<double>(device.memory_bytes.value_or(0)) / kGibi / instinct.memory_gigabytes;
  return device.compute_major == instinct.compute_major && device.compute_minor == instinct.compute_minor &&
         device.multiprocessors == instinct.compute_units && gigabytes >= kLeastUsable && gigabytes <= 1;
}

// Empty for a device that has a name of its own.
std::string_view name_by_description(const Device& device) {
  if (!device.name.empty() && device.name != "AMD Radeon Graphics") return {};
  constexpr int kWavefront = 64;
  const auto found = std::ranges::find_if(kInstincts, [&](const Instinct& one) { return is_meant(one, device); });
  return device.warp_size == kWavefront && found != std::end(kInstincts) ? found->name : std::string_view();
}

}  // namespace

bool is_amd(const GpuPeaks& peaks) { return peaks.name.starts_with("MI"); }

std::optional<GpuPeaks> peaks_of(const Device& device) {
  for (const std::string_view lesser : {"MIG", "Laptop", "Max-Q"})
    if (has_all_words(device.name, lesser)) return std::nullopt;
  const std::string_view deduced = name_by_description(device);
  for (const GpuPeaks& row : kTable)
    if (has_all_words(deduced.empty() ? device.name : deduced, row.name)) return row;
  return std::nullopt;
}

std::string shown_name(const Device& device) {
  const std::string_view deduced = name_by_description(device);
  return device.name.empty() && !deduced.empty() ? "AMD Instinct " + std::string(deduced) : device.name;
}

}  // namespace telltale
