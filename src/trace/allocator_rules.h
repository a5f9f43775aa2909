// The sizes that PyTorch's caching allocator works with: what a request is rounded to, how large a segment is, and when
// the rest of a block is cut off. For readers, which rebuild a state from its log, and for the simulation.
//
// The rules are those of c10/cuda/CUDACachingAllocator.cpp. Pure and thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace telltale {

inline constexpr std::int64_t kLeastBlock = 512;                       // sizes of blocks are multiples of it
inline constexpr std::int64_t kMostSmall = std::int64_t{1} << 20;      // requests up to it come from the small pool
inline constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;   // a segment of that pool; no other has its size
inline constexpr std::int64_t kLargeSegment = std::int64_t{20} << 20;  // a segment for requests under kLeastOwn
inline constexpr std::int64_t kLeastOwn = std::int64_t{10} << 20;      // such requests get a segment of their own
inline constexpr std::int64_t kSegmentRounding = std::int64_t{2} << 20;  // of segments of kLeastOwn and more

// roundup_power2_divisions: of requests under 2 MiB, 4 MiB, …, and 32 GiB and more; 0 and 1: none.
using RoundingDivisions = std::array<std::int64_t, 16>;

// The size of the block that a request is given at least. Requires requested ≤ 2^60.
std::int64_t rounded_request(std::int64_t requested, const RoundingDivisions& divisions);

// The size of the segment that is taken for a block of that (rounded) size when segments do not expand.
std::int64_t segment_size_for(std::int64_t rounded);

// The least that is cut off a block, and so the least that is ever free beside one. Blocks of small and of expandable
// segments are split finely.
constexpr std::int64_t smallest_rest(bool splits_finely) { return splits_finely ? kLeastBlock : kMostSmall + 1; }

// Whether what is left of a free block is cut off when `rounded` bytes of it are handed out.
constexpr bool is_split(std::int64_t block_bytes, std::int64_t rounded, bool splits_finely, std::int64_t max_split) {
  return block_bytes - rounded >= smallest_rest(splits_finely) && (splits_finely || rounded < max_split);
}

}  // namespace telltale
