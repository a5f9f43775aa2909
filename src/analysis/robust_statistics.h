// What is usual among values of which a few may be anything.
#pragma once

#include <algorithm>
#include <cstddef>
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

}  // namespace telltale
