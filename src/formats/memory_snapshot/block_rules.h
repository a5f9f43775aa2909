// How large a block PyTorch's allocator gives out for a request, where nobody recorded it.
//
// Rounding and splitting follow c10/cuda/CUDACachingAllocator.cpp. Pure and thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace telltale::memory_snapshot {

// A segment of the pool for requests up to 1 MiB has this size, and no other has.
inline constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;

struct BlockRules {
  std::int64_t max_split = INT64_MAX;        // larger blocks are never split
  std::array<std::int64_t, 16> divisions{};  // roundup_power2_divisions, by powers of two from 1 MiB; 0 and 1: none
};

std::int64_t rounded(const BlockRules& rules, std::int64_t requested);

// The block that `available` free bytes from its first one on give for a request: what is left over stays with it where
// it is too small to be a block of its own. Never more than there is.
std::int64_t block_bytes(const BlockRules& rules, bool splits_finely, std::int64_t requested, std::int64_t available);

// What the allocator leaves unsplit in such a segment: less than this is never a free block of its own.
std::int64_t smallest_rest(bool splits_finely);

}  // namespace telltale::memory_snapshot
