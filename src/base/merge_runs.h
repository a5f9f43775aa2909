// A stable sort for data that is sorted already but for a few runs, such as several recorders' events written one after
// the other: linear when sorted, and nearly so when the runs lie behind one another in time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace telltale {

template <typename Row, typename Less>
void merge_runs(std::span<Row> rows, Less less) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (less(rows[i], rows[i - 1])) starts.push_back(i);
  starts.push_back(rows.size());

  // Neighboring runs are merged in pairs until one is left. What stands in place already at both ends is left alone.
  while (starts.size() > 2) {
    std::vector<std::size_t> merged{0};
    for (std::size_t i = 0; i + 1 < starts.size(); i += 2) {
      const bool has_partner = i + 2 < starts.size();
      if (has_partner) {
        const auto first = rows.begin() + static_cast<std::ptrdiff_t>(starts[i]);
        const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(starts[i + 1]);
        const auto last = rows.begin() + static_cast<std::ptrdiff_t>(starts[i + 2]);
        const auto from = std::upper_bound(first, middle, *middle, less);
        if (from != middle) {
          const auto to = std::lower_bound(middle, last, *(middle - 1), less);
          std::inplace_merge(from, middle, to, less);
        }
      }
      merged.push_back(starts[std::min(i + 2, starts.size() - 1)]);
    }
    starts = std::move(merged);
  }
}

}  // namespace telltale
