#include "trace/allocator_rules.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace telltale {

std::int64_t rounded_request(std::int64_t requested, const RoundingDivisions& divisions) {
  if (requested < kLeastBlock) return kLeastBlock;
  const auto size = static_cast<std::uint64_t>(requested);
  const int exponent = static_cast<int>(std::bit_width(size)) - 1;
  constexpr int kFirstExponent = 20;  // of the first entry, 1 MiB, which also serves all that is smaller
  const std::int64_t pieces = divisions[static_cast<std::size_t>(std::clamp(exponent - kFirstExponent, 0, 15))];
  if (pieces > 1 && requested / pieces >= kLeastBlock && requested > kLeastBlock * pieces) {
    if (std::has_single_bit(size)) return requested;
    // Between two powers of two stand `pieces` sizes.
    const std::uint64_t floor = std::bit_floor(size);
    const std::uint64_t unit = floor >> (std::bit_width(static_cast<std::uint64_t>(pieces)) - 1);
    if (unit == 0) return static_cast<std::int64_t>(floor << 1);
    return static_cast<std::int64_t>((size + unit - 1) / unit * unit);
  }
  return (requested + kLeastBlock - 1) / kLeastBlock * kLeastBlock;
}

std::int64_t segment_size_for(std::int64_t rounded) {
  if (rounded <= kMostSmall) return kSmallSegment;
  if (rounded < kLeastOwn) return kLargeSegment;
  return (rounded + kSegmentRounding - 1) / kSegmentRounding * kSegmentRounding;
}

}  // namespace telltale
