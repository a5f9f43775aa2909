// The settings of PyTorch's caching allocator that decide how much memory it takes, and the sizes that follow from
// them: what a request is rounded to, and when a block is split.
//
// The rules are those of c10/cuda/CUDACachingAllocator.cpp. Pure and thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale {

inline constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
inline constexpr std::int64_t kLeastBlock = 512;                 // sizes of blocks are multiples of it
inline constexpr std::int64_t kMostSmall = kMebibyte;            // requests up to it come from the small pool
inline constexpr std::int64_t kSmallSegment = 2 * kMebibyte;     // of the small pool
inline constexpr std::int64_t kLargeSegment = 20 * kMebibyte;    // for requests that are large but under kLeastOwn
inline constexpr std::int64_t kLeastOwn = 10 * kMebibyte;        // such requests get a segment of their own
inline constexpr std::int64_t kSegmentRounding = 2 * kMebibyte;  // of segments of requests of kLeastOwn and more
inline constexpr std::int64_t kMostRequested = std::int64_t{1} << 60;  // PyTorch refuses what is larger

struct AllocatorSettings {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  bool expandable_segments = false;
  std::int64_t max_split_size = kUnlimited;                 // blocks of this size and more are never split
  std::int64_t max_non_split_rounding = kLargeSegment;      // how much larger than asked for such a block may be
  double garbage_collection_threshold = 0;                  // of the memory that the process may use; 0: never
  double memory_fraction = 0;                               // that the process may use; 0: no limit but the device's
  std::array<std::int64_t, 16> roundup_power2_divisions{};  // of requests under 2 MiB, 4 MiB, …, and 32 GiB and more
  std::vector<std::string> unknown;                         // names of settings that are not simulated

  bool operator==(const AllocatorSettings&) const = default;
};

// From text as in PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:128". Settings that the text
// does not name stay as they are in `base`. Fails with a sentence on values that PyTorch would refuse.
Result<AllocatorSettings> parse_allocator_settings(std::string_view text, AllocatorSettings base = {});

// Those that the trace was recorded under, as far as it says; PyTorch's own defaults elsewhere.
AllocatorSettings recorded_allocator_settings(const Trace& trace);

// What distinguishes them from PyTorch's defaults, as text for PYTORCH_CUDA_ALLOC_CONF; "" when nothing does.
std::string settings_text(const AllocatorSettings& settings);

// The size of the block that a request is given at least. Requires 0 < requested ≤ kMostRequested.
std::int64_t rounded_request(std::int64_t requested, const AllocatorSettings& settings);

// The size of the segment that is taken for a block of that (rounded) size when segments do not expand.
std::int64_t segment_size_for(std::int64_t rounded);

// Whether what is left of a free block is cut off when `rounded` bytes of it are handed out.
inline bool is_split(std::int64_t block_bytes, std::int64_t rounded, bool is_small, const AllocatorSettings& settings) {
  const std::int64_t rest = block_bytes - rounded;
  if (is_small || settings.expandable_segments) return rest >= kLeastBlock;
  return rounded < settings.max_split_size && rest > kMostSmall;
}

}  // namespace telltale
