#include "report/table.h"

#include <algorithm>
#include <optional>

#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastLabelWidth = 24;
constexpr std::string_view kSortMark = "↓";

struct Layout {
  std::size_t label_width = 0;
  std::vector<std::size_t> shown;   // columns, from left to right
  std::vector<std::size_t> widths;  // of those
};

std::string header_of(const Table& table, std::size_t column) {
  const std::string& header = table.columns[column].header;
  return column == table.sorted_column ? header + std::string(kSortMark) : header;
}

std::size_t natural_width(const Table& table, std::size_t column) {
  std::size_t width = display_width(header_of(table, column));
  for (const std::string& cell : table.columns[column].cells) width = std::max(width, display_width(cell));
  return width;
}

std::size_t natural_label_width(const Table& table) {
  std::size_t width = display_width(table.label_header);
  for (const std::string& label : table.labels) width = std::max(width, display_width(label));
  return width;
}

// The position in `shown` of the column that is missed least, if any may go.
std::optional<std::size_t> most_dispensable(const Table& table, const std::vector<std::size_t>& shown) {
  std::optional<std::size_t> most;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const int dispensability = table.columns[shown[i]].dispensability;
    if (dispensability == 0) continue;
    if (!most || dispensability > table.columns[shown[*most]].dispensability) most = i;
  }
  return most;
}

Layout laid_out(const Table& table, std::size_t width) {
  Layout layout;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    layout.shown.push_back(i);
    layout.widths.push_back(natural_width(table, i));
    taken += kGap + layout.widths.back();
  }
  const std::size_t label_width = natural_label_width(table);
  const std::size_t least = std::min(label_width, kLeastLabelWidth);
  while (least + taken > width) {
    const auto dropped = most_dispensable(table, layout.shown);
    if (!dropped) break;
    taken -= kGap + layout.widths[*dropped];
    layout.shown.erase(layout.shown.begin() + static_cast<std::ptrdiff_t>(*dropped));
    layout.widths.erase(layout.widths.begin() + static_cast<std::ptrdiff_t>(*dropped));
  }
  const std::size_t room = width > taken ? width - taken : 0;
  layout.label_width = std::max(least, std::min(label_width, room));
  return layout;
}

}  // namespace

std::string render(const Table& table, const TextStyle& style) {
  const Layout layout = laid_out(table, style.width);

  std::string header = padded_right(table.label_header, layout.label_width);
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    header += padded_left(header_of(table, layout.shown[i]), kGap + layout.widths[i]);
  }
  std::string text = style.bold(header) + '\n';

  const std::vector<std::string> labels = table.fit_labels(table.labels, layout.label_width);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::string label = padded_right(labels[row], layout.label_width);
    text += table.paint_label ? table.paint_label(row, label) : label;
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      text += padded_left(table.columns[layout.shown[i]].cells[row], kGap + layout.widths[i]);
    }
    text += '\n';
    if (row < table.details.size() && !table.details[row].empty()) {
      text += style.faint("  " + cut_to_width(table.details[row], style.width > 2 ? style.width - 2 : 0)) + '\n';
    }
  }
  return text;
}

}  // namespace telltale
