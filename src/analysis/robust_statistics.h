// What is usual among values of which a few may be anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/intervals.h"

namespace telltale {

// The mean of the two middle ones where there are two; 0 of none. O(n).
inline Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The value that this share of them, as a fraction, is no greater than: of an even number, 1 / 2 gives the upper one in
// the middle. Requires values. O(n).
inline Nanoseconds quantile(std::vector<Nanoseconds> values, std::size_t numerator, std::size_t denominator) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * numerator / denominator);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The median of the slopes between any two values, which a single odd one does not bend; nothing of fewer than three.
// Of many values, some evenly spaced ones stand for all.
inline std::optional<double> theil_sen_slope(std::span<const std::int64_t> values) {
  constexpr std::size_t kMostCompared = 256;
  if (values.size() < 3) return {};
  const std::size_t stride = (values.size() + kMostCompared - 1) / kMostCompared;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); i += stride)
    for (std::size_t j = i + stride; j < values.size(); j += stride)
      slopes.push_back(static_cast<double>(values[j] - values[i]) / static_cast<double>(j - i));
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  if (slopes.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(slopes.begin(), middle)) / 2;
}

}  // namespace telltale
