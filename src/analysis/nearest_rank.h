// The smallest of ascending values that is not exceeded by so many percent of them; 0 of none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.h"

namespace telltale {

inline Nanoseconds nearest_rank(const std::vector<Nanoseconds>& ascending, std::size_t percent) {
  const std::size_t rank = (ascending.size() * percent + 99) / 100;
  return ascending.empty() ? 0 : ascending[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace telltale
