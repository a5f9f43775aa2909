// Lays out a table so that it fits a width: the first column takes what is left, and the least useful columns go
// when there is not enough.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "report/palette.h"

namespace telltale {

struct TextColumn {
  std::string header;
  std::vector<std::string> cells;  // plain text; one a row
  // The column with the highest number goes first; 0 stays whatever happens.
  int dispensability = 0;
};

struct TextTable {
  std::string label_header;
  std::vector<std::string> labels;       // of the rows: the flexible first column
  std::vector<TextColumn> columns;       // right-aligned, their units under one another
  std::size_t sorted_column = SIZE_MAX;  // its header is marked
  bool has_whole_labels = false;         // labels stand at the end of the line and are never cut

  // How labels are cut to a width; they are given all at once, so that they stay different.
  std::function<std::vector<std::string>(const std::vector<std::string>&, std::size_t)> fit_labels;
  std::function<std::string(std::size_t row, std::string_view text)> paint_label;  // optional
  std::vector<std::string> details;  // optional, one a row: printed below the row when not empty
};

std::string render(TextTable table, const TextStyle& style);

}  // namespace telltale
