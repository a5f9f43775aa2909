// Key averages as a table for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/key_averages.h"
#include "analysis/sort_key.h"
#include "report/palette.h"

namespace telltale {

struct TopTableOptions {
  SortKey sorted_by = SortKey::kSelfCpu;  // that column is marked and stays on the narrowest screen
  bool has_full_names = false;
  std::size_t rows_left_out = 0;  // by a limit, which the table then mentions
};

std::string top_table(const KeyAverages& averages, const TopTableOptions& options, const TextStyle& style);

}  // namespace telltale
