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

}  // namespace telltale
