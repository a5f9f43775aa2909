// The blocks of a simulated allocator, and its lists of free ones. Only for the sources of SimulatedAllocator.
#pragma once

#include <compare>

#include "memory/simulator/simulated_allocator.h"

namespace telltale {

struct SimulatedAllocator::Block {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested = 0;
  Pool* pool = nullptr;
  std::uint64_t base = 0;        // of an expandable segment: where its pages are counted from
  std::int64_t inserted_at = 0;  // how many searches its pools had seen when it became free
  BlockId prev = kNoBlock, next = kNoBlock;
  std::uint32_t serial = 0;
  BlockState state = BlockState::kInactive;
  bool is_mapped = true;
  bool is_expandable = false;
  bool exists = true;
};

// The free blocks of one stream in a pool.
struct SimulatedAllocator::Pool {
  struct Key {
    std::int64_t bytes;  // of unmapped ones 0: they are found by address
    std::uint64_t address;
    BlockId block;
    auto operator<=>(const Key&) const = default;
  };
  StringId owner = kEmptyString;
  bool is_small = false;
  std::uint64_t stream = 0;
  std::int64_t* searches = nullptr;
  std::pmr::set<Key> free, unmapped;

  std::int64_t page() const { return is_small ? kSmallSegment : kLargeSegment; }
};

}  // namespace telltale
