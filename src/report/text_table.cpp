#include "report/text_table.h"

#include <algorithm>
#include <optional>

#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kComfortableLabelWidth = 32;  // columns go before labels become shorter than this
constexpr std::size_t kLeastLabelWidth = 8;
constexpr std::string_view kSortMark = "↓";

struct Layout {
  std::size_t label_width = 0;
  std::vector<std::size_t> shown;   // columns, from left to right
  std::vector<std::size_t> widths;  // of those
};

// Numbers whose units differ in width stand under one another: "83.6 ms" above "1.50  s".
void align_units(std::vector<std::string>& cells) {
  const auto unit_of = [](const std::string& cell) {
    const std::size_t blank = cell.rfind(' ');
    const bool has_unit = blank != std::string::npos && blank > 0 && cell[blank - 1] >= '0' && cell[blank - 1] <= '9';
    return has_unit ? std::optional(blank + 1) : std::nullopt;
  };
  std::size_t widest = 0;
  for (const std::string& cell : cells)
    if (const auto unit = unit_of(cell)) widest = std::max(widest, display_width(std::string_view(cell).substr(*unit)));
  for (std::string& cell : cells)
    if (const auto unit = unit_of(cell))
      cell.insert(*unit, widest - display_width(std::string_view(cell).substr(*unit)), ' ');
}

std::string header_of(const TextTable& table, std::size_t column) {
  const std::string& header = table.columns[column].header;
  return column == table.sorted_column ? header + std::string(kSortMark) : header;
}

std::size_t natural_width(const TextTable& table, std::size_t column) {
  std::size_t width = display_width(header_of(table, column));
  for (const std::string& cell : table.columns[column].cells) width = std::max(width, display_width(cell));
  return width;
}

std::size_t natural_label_width(const TextTable& table) {
  std::size_t width = display_width(table.label_header);
  for (const std::string& label : table.labels) width = std::max(width, display_width(label));
  return width;
}

// The position in `shown` of the column that is missed least, if any may go.
std::optional<std::size_t> most_dispensable(const TextTable& table, const std::vector<std::size_t>& shown) {
  std::optional<std::size_t> most;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const int dispensability = table.columns[shown[i]].dispensability;
    if (dispensability == 0) continue;
    if (!most || dispensability > table.columns[shown[*most]].dispensability) most = i;
  }
  return most;
}

Layout laid_out(const TextTable& table, std::size_t width) {
  Layout layout;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    layout.shown.push_back(i);
    layout.widths.push_back(natural_width(table, i));
    taken += kGap + layout.widths.back();
  }
  const std::size_t label_width = natural_label_width(table);
  const std::size_t comfortable = std::min(label_width, kComfortableLabelWidth);
  while (comfortable + taken > width) {
    const auto dropped = most_dispensable(table, layout.shown);
    if (!dropped) break;
    taken -= kGap + layout.widths[*dropped];
    layout.shown.erase(layout.shown.begin() + static_cast<std::ptrdiff_t>(*dropped));
    layout.widths.erase(layout.widths.begin() + static_cast<std::ptrdiff_t>(*dropped));
  }
  const std::size_t room = width > taken ? width - taken : 0;
  layout.label_width = std::min(label_width, std::max(room, kLeastLabelWidth));
  return layout;
}

}  // namespace

std::string render(TextTable table, const TextStyle& style) {
  for (TextColumn& column : table.columns) align_units(column.cells);
  const Layout layout = laid_out(table, style.width);
  const auto line = [&](std::string_view label, std::string_view painted_label, const auto& cell_of) {
    std::string cells;
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      cells += padded_left(cell_of(layout.shown[i]), kGap + layout.widths[i]);
    }
    if (table.has_whole_labels) return cells.substr(kGap) + std::string(kGap, ' ').append(painted_label) + '\n';
    const std::size_t taken = display_width(label);
    const std::size_t padding = layout.label_width > taken ? layout.label_width - taken : 0;
    return std::string(painted_label).append(padding, ' ') + cells + '\n';
  };

  const auto header_cell = [&](std::size_t column) { return header_of(table, column); };
  std::string text = style.bold(line(table.label_header, table.label_header, header_cell));
  const std::vector<std::string> labels =
      table.has_whole_labels ? table.labels : table.fit_labels(table.labels, layout.label_width);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::string painted = table.paint_label ? table.paint_label(row, labels[row]) : labels[row];
    text += line(labels[row], painted, [&](std::size_t column) { return table.columns[column].cells[row]; });
    if (row < table.details.size() && !table.details[row].empty()) {
      text += style.faint("  " + cut_to_width(table.details[row], style.width > 2 ? style.width - 2 : 0)) + '\n';
    }
  }
  return text;
}

}  // namespace telltale
