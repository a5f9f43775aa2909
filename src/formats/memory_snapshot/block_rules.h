// How large a block PyTorch's allocator gives out for a request, where nobody recorded it: see trace/allocator_rules.h.
#pragma once

#include <cstdint>

#include "trace/allocator_rules.h"

namespace telltale::memory_snapshot {

struct BlockRules {
  std::int64_t max_split = INT64_MAX;  // larger blocks are never split
  RoundingDivisions divisions{};
};

// The block that `available` free bytes from its first one on give for a request: what is left over stays with it where
// it is too small to be a block of its own. Never more than there is.
inline std::int64_t block_bytes(const BlockRules& rules, bool splits_finely, std::int64_t requested,
                                std::int64_t available) {
  const std::int64_t wanted = rounded_request(requested, rules.divisions);
  return is_split(available, wanted, splits_finely, rules.max_split) ? wanted : available;
}

}  // namespace telltale::memory_snapshot
