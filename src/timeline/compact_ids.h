// Lists of ascending ids that take little more than half the room of 32-bit numbers: every sixteenth as it is, the
// others by how far they lie behind it in 16 bits, and a place in a second list where that is too far.
//
// Several threads may fill lists, each its own; any number of them may read when nobody fills.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale {

class CompactIds {
  struct Part {
    std::size_t first = 0, first_head = 0;
    std::uint32_t size = 0;
    std::vector<std::pair<std::uint32_t, EventId>> far;  // by place
  };

 public:
  // One of them. The whole must outlive it.
  class List {
   public:
    List(const CompactIds& ids, const Part& part) : ids_(&ids), part_(&part) {}

    std::size_t size() const { return part_->size; }
    bool empty() const { return part_->size == 0; }
    EventId operator[](std::size_t i) const {
      const std::uint16_t behind = ids_->behind_[part_->first + i];
      if (behind != kElsewhere) return ids_->heads_[part_->first_head + i / kBlock] + behind;
      return std::ranges::lower_bound(part_->far, i, {}, &std::pair<std::uint32_t, EventId>::first)->second;
    }

    // The place of the first id of which `is_before` is false; it holds for those in front of that one alone.
    template <typename IsBefore>
    std::size_t first_from(IsBefore is_before) const {
      std::size_t low = 0, high = size();
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (is_before((*this)[middle]))
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    }

   private:
    const CompactIds* ids_;
    const Part* part_;
  };

  CompactIds() = default;

  // Empty lists with room for so many ids each.
  explicit CompactIds(std::span<const std::uint32_t> sizes) {
    std::size_t ids = 0, heads = 0;
    parts_.reserve(sizes.size());
    for (const std::uint32_t size : sizes) {
      parts_.push_back({.first = ids, .first_head = heads});
      ids += size;
      heads += (std::size_t{size} + kBlock - 1) / kBlock;
    }
    behind_.resize(ids);
    heads_.resize(heads);
  }

  void push_back(std::size_t list, EventId id) {
    Part& part = parts_[list];
    const std::uint32_t place = part.size++;
    EventId& head = heads_[part.first_head + place / kBlock];
    if (place % kBlock == 0) head = id;
    const EventId behind = std::min<EventId>(id - head, kElsewhere);
    if (behind == kElsewhere) part.far.emplace_back(place, id);
    behind_[part.first + place] = static_cast<std::uint16_t>(behind);
  }

  List operator[](std::size_t list) const { return {*this, parts_[list]}; }

  std::size_t memory_bytes() const {
    std::size_t bytes = behind_.capacity() * sizeof(std::uint16_t) + heads_.capacity() * sizeof(EventId) +
                        parts_.capacity() * sizeof(Part);
    for (const Part& part : parts_) bytes += part.far.capacity() * sizeof(part.far[0]);
    return bytes;
  }

 private:
  static constexpr std::size_t kBlock = 16;
  static constexpr std::uint16_t kElsewhere = UINT16_MAX;

  std::vector<Part> parts_;
  std::vector<std::uint16_t> behind_;
  std::vector<EventId> heads_;
};

}  // namespace telltale
