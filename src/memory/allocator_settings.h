// The settings of PyTorch's caching allocator that decide how much memory it takes, and what trace/allocator_rules.h
// says under them. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/allocator_rules.h"
#include "trace/trace.h"

namespace telltale {

inline constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostRequested = std::int64_t{1} << 60;  // PyTorch refuses what is larger

struct AllocatorSettings {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  bool expandable_segments = false;
  std::int64_t max_split_size = kUnlimited;             // blocks of this size and more are never split
  std::int64_t max_non_split_rounding = kLargeSegment;  // how much larger than asked for such a block may be
  double garbage_collection_threshold = 0;              // of the memory that the process may use; 0: never
  double memory_fraction = 0;                           // that the process may use; 0: no limit but the device's
  RoundingDivisions roundup_power2_divisions{};
  std::vector<std::string> unknown;  // those that are not simulated, by name

  bool operator==(const AllocatorSettings&) const = default;
};

// From text as in PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:128", with or without the
// variable's name and "=" before it. Settings that the text does not name stay as they are in `base`. Fails with a
// sentence on values that PyTorch would refuse.
Result<AllocatorSettings> parse_allocator_settings(std::string_view text, AllocatorSettings base = {});

// Fails with a sentence where a simulation under such settings would answer nothing: none is named, or none that it
// knows.
Result<void> check_question(std::string_view text);

// Those that the trace was recorded under, as far as it says; PyTorch's own defaults elsewhere.
AllocatorSettings recorded_allocator_settings(const Trace& trace);

// What distinguishes them from PyTorch's defaults, as text for PYTORCH_CUDA_ALLOC_CONF; "" when nothing does.
std::string settings_text(const AllocatorSettings& settings);

inline std::int64_t rounded_request(std::int64_t requested, const AllocatorSettings& settings) {
  return rounded_request(requested, settings.roundup_power2_divisions);
}

inline bool is_split(std::int64_t block_bytes, std::int64_t rounded, bool is_small, const AllocatorSettings& settings) {
  return is_split(block_bytes, rounded, is_small || settings.expandable_segments, settings.max_split_size);
}

}  // namespace telltale
