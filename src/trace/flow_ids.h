// Which arrows of a list have a start, and which an end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "trace/flows.h"

namespace telltale {

// Ids are mostly consecutive numbers, which a table takes; text and scattered numbers go to a map.
class FlowIds {
 public:
  explicit FlowIds(std::span<const FlowPoint> points) {
    std::int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (const FlowPoint& point : points) {
      least = std::min(least, point.id_number);
      greatest = std::max(greatest, point.id_number);
    }
    const auto range = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    constexpr std::uint64_t kBytesPerPoint = 16;
    if (!points.empty() && range < kBytesPerPoint * points.size()) {
      least_ = least;
      table_.resize(range + 1);
    }
    for (const FlowPoint& point : points) ends_of(point) |= point.role == FlowRole::kStart ? kStart : kEnd;
  }

  bool has_start(const FlowPoint& point) const { return (found(point) & kStart) != 0; }
  bool has_end(const FlowPoint& point) const { return (found(point) & kEnd) != 0; }

 private:
  static constexpr std::uint8_t kStart = 1, kEnd = 2;

  bool is_in_table(const FlowPoint& point) const { return !table_.empty() && point.id == kEmptyString; }
  std::size_t slot_of(const FlowPoint& point) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(point.id_number) - static_cast<std::uint64_t>(least_));
  }
  std::uint8_t& ends_of(const FlowPoint& point) {
    return is_in_table(point) ? table_[slot_of(point)] : map_[{point.id, point.id_number}];
  }
  std::uint8_t found(const FlowPoint& point) const {
    return is_in_table(point) ? table_[slot_of(point)] : map_.at({point.id, point.id_number});
  }

  std::int64_t least_ = 0;
  std::vector<std::uint8_t> table_;  // by id, from `least_` on
  std::map<std::pair<StringId, std::int64_t>, std::uint8_t> map_;
};

}  // namespace telltale
