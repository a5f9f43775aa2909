#include "analysis/gpu_peaks.h"

#include <algorithm>
#include <cctype>

namespace telltale {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;

// TFLOP/s and GB/s as in the vendors' data sheets; numbers given with sparsity are halved.
constexpr GpuPeaks peaks(std::string_view name, double fp32, double tf32, double half, double fp8, double memory) {
  return {name, fp32 * kTera, tf32 * kTera, half * kTera, fp8 * kTera, memory * kGiga};
}

// A row is meant when all words of its name are words of the device's. Of several the first one counts, so what is
// more specific comes first.
constexpr GpuPeaks kTable[] = {
    peaks("V100S", 16.4, 0, 130, 0, 1134),
    peaks("V100 PCIE", 14, 0, 112, 0, 900),
    peaks("V100", 15.7, 0, 125, 0, 900),
    peaks("T4", 8.1, 0, 65, 0, 320),
    peaks("A10", 31.2, 62.5, 125, 0, 600),
    peaks("A10G", 31.5, 35, 70, 0, 600),
    peaks("A30", 10.3, 82, 165, 0, 933),
    peaks("A40", 37.4, 74.8, 149.7, 0, 696),
    peaks("A100 SXM4 80GB", 19.5, 156, 312, 0, 2039),
    peaks("A100 PCIe 80GB", 19.5, 156, 312, 0, 1935),
    peaks("A100 80GB", 19.5, 156, 312, 0, 2039),
    peaks("A100", 19.5, 156, 312, 0, 1555),
    peaks("A800 80GB", 19.5, 156, 312, 0, 2039),
    peaks("A800", 19.5, 156, 312, 0, 1555),
    peaks("L4", 30.3, 60, 121, 242.5, 300),
    peaks("L20", 59.8, 59.8, 119.5, 239, 864),
    peaks("L40", 90.5, 90.5, 181, 362, 864),
    peaks("L40S", 91.6, 183, 362, 733, 864),
    peaks("H20", 44, 74, 148, 296, 4000),
    peaks("H100 PCIe", 51, 378, 756, 1513, 2000),
    peaks("H100 NVL", 60, 417.5, 835.5, 1671, 3900),
    peaks("H100", 67, 494.7, 989.4, 1978.9, 3350),
    peaks("H800", 67, 494.7, 989.4, 1978.9, 3350),
    peaks("H200 NVL", 60, 417.5, 835.5, 1671, 4800),
    peaks("H200", 67, 494.7, 989.4, 1978.9, 4800),
    peaks("GH200 480GB", 67, 494.7, 989.4, 1978.9, 4000),
    peaks("GH200", 67, 494.7, 989.4, 1978.9, 4900),
    peaks("B100", 60, 900, 1750, 3500, 8000),
    peaks("B200", 75, 1100, 2250, 4500, 8000),
    peaks("GB200", 80, 1250, 2500, 5000, 8000),
    peaks("RTX 3090 Ti", 40, 40, 80, 0, 1008),
    peaks("RTX 3090", 35.6, 35.6, 71, 0, 936),
    peaks("RTX 4090 D", 73.5, 73.5, 147, 294, 1008),
    peaks("RTX 4090", 82.6, 82.6, 165.2, 330.3, 1008),
    peaks("RTX 5090 D", 104.8, 104.8, 209.5, 419, 1792),
    peaks("RTX 5090", 104.8, 104.8, 209.5, 419, 1792),
    peaks("RTX A6000", 38.7, 77.4, 154.8, 0, 768),
    peaks("RTX 6000 Ada", 91.1, 182.1, 364.2, 728.5, 960),
    // Each of the two dies of an MI250 is a device of its own.
    peaks("MI210", 45.3, 0, 181, 0, 1638),
    peaks("MI250X", 47.9, 0, 191.5, 0, 1638),
    peaks("MI250", 45.3, 0, 181, 0, 1638),
    peaks("MI300A", 122.6, 490.3, 980.6, 1961.2, 5300),
    peaks("MI300X", 163.4, 653.7, 1307.4, 2614.9, 5300),
    peaks("MI325X", 163.4, 653.7, 1307.4, 2614.9, 6000),
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

}  // namespace

std::optional<GpuPeaks> peaks_of(const Device& device) {
  for (const std::string_view lesser : {"MIG", "Laptop", "Max-Q"})
    if (has_all_words(device.name, lesser)) return std::nullopt;
  for (const GpuPeaks& row : kTable)
    if (has_all_words(device.name, row.name)) return row;
  return std::nullopt;
}

}  // namespace telltale
