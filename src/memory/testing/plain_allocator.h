// The caching allocator in the slowest way: segments, the pages of them that are mapped, and live blocks, in plain
// lists. Free blocks are not kept but looked for in each request, so that nothing has to be split or merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "memory/allocator_walk.h"
#include "memory/simulator/simulated_allocator.h"

namespace telltale {

class PlainAllocator {
 public:
  PlainAllocator(const AllocatorSettings& settings, const SimulatorLimits& limits)
      : settings_(settings), limits_(limits) {}

  // The address of the block; nothing when out of memory.
  std::optional<std::uint64_t> allocate(std::int64_t requested, std::uint64_t stream, StringId pool);
  void request_free(std::uint64_t address);
  void complete_free(std::uint64_t address);
  void empty_cache();
  AllocatorTotals totals() const;
  // Segments, and pages of expandable ones, that have memory behind them, with their sizes.
  std::map<std::uint64_t, std::int64_t> mapped() const;

 private:
  struct Segment {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::uint64_t stream = 0;
    StringId pool = kEmptyString;
    bool is_small = false, is_expandable = false;
    std::vector<bool> pages;  // of an expandable one: which are mapped
    std::int64_t free_since = 0;
    std::int64_t page() const { return (is_small ? 2 : 20) * kMebibyte; }
  };
  struct Live {
    std::uint64_t address = 0;
    std::int64_t bytes = 0, requested = 0;
    bool awaits_free = false;
  };
  struct Free {
    std::int64_t bytes = 0;
    std::uint64_t address = 0;
    std::int64_t reach = 0;  // with what is not mapped behind it
    bool is_whole = false, is_expandable = false;
    std::size_t segment = 0;
  };

  std::vector<Free> free_blocks(bool is_small, std::uint64_t stream, StringId pool) const;
  bool is_live(std::uint64_t from, std::uint64_t to) const;
  std::optional<std::uint64_t> new_room(std::int64_t size, bool is_small, std::uint64_t stream, StringId pool);
  std::optional<std::uint64_t> expanded(std::int64_t size, bool is_small, std::uint64_t stream, StringId pool);
  std::optional<std::uint64_t> fitting(std::int64_t size, bool is_small, std::uint64_t stream, StringId pool) const;
  void collect_garbage();
  bool release_oversize(std::int64_t size, bool is_small, std::uint64_t stream, StringId pool);
  void drop(std::uint64_t segment_address);
  std::uint64_t take_addresses(std::int64_t bytes);
  std::uint64_t lowest_address_ = std::uint64_t{1} << 62;  // of segments that descend

  AllocatorSettings settings_;
  SimulatorLimits limits_;
  std::vector<Segment> segments_;
  std::vector<Live> live_;
  std::vector<std::tuple<StringId, bool, std::int64_t>> searches_;
  std::int64_t& searches(StringId pool, bool is_small);
  std::uint64_t next_address_ = std::uint64_t{20} * kMebibyte;
};

}  // namespace telltale
