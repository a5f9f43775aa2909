// Whole numbers that take 32 bits each, where something divides them all: sizes of memory come in blocks.
//
// Immutable once made, and thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace telltale {

class CompactValues {
 public:
  // Nothing where a number is negative, or too large for what divides them all.
  static std::optional<CompactValues> of(std::span<const std::int64_t> values) {
    std::int64_t unit = 0, largest = 0;
    for (const std::int64_t value : values) {
      if (value < 0) return std::nullopt;
      unit = std::gcd(unit, value);
      largest = std::max(largest, value);
    }
    unit = std::max<std::int64_t>(unit, 1);
    if (largest / unit > UINT32_MAX) return std::nullopt;
    CompactValues compact;
    compact.unit_ = unit;
    compact.quotients_.reserve(values.size());
    for (const std::int64_t value : values) compact.quotients_.push_back(static_cast<std::uint32_t>(value / unit));
    return compact;
  }

  std::int64_t operator[](std::size_t i) const { return quotients_[i] * unit_; }
  std::size_t size() const { return quotients_.size(); }
  std::size_t memory_bytes() const { return quotients_.capacity() * sizeof(std::uint32_t); }

 private:
  std::int64_t unit_ = 1;
  std::vector<std::uint32_t> quotients_;
};

}  // namespace telltale
