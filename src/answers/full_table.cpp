#include "answers/full_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text_encoding.h"

namespace telltale::answers {
namespace {

std::string csv_text(const std::string& cell) { return cell; }
std::string csv_text(const std::optional<std::int64_t>& cell) { return cell ? std::to_string(*cell) : std::string(); }
std::string csv_text(const std::optional<double>& cell) { return cell ? fmt::format("{:.3f}", *cell) : std::string(); }

bool is_absent(const std::string& cell) { return cell.empty(); }
template <typename Number>
bool is_absent(const std::optional<Number>& cell) {
  return !cell;
}

}  // namespace

std::string_view name_of(CellUnit unit) {
  constexpr std::string_view kNames[] = {"text", "ns", "bytes", "count", "percent", "flops"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::optional<std::size_t> FullTable::column_named(std::string_view id) const {
  const auto found = std::ranges::find(columns, id, &TableColumn::id);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

RowOrder sorted_rows(const FullTable& table, std::size_t column, bool is_falling) {
  RowOrder rows(table.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::visit(
      [&](const auto& cells) {
        std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
          if (is_absent(cells[a]) || is_absent(cells[b])) return !is_absent(cells[a]) && is_absent(cells[b]);
          return is_falling ? cells[b] < cells[a] : cells[a] < cells[b];
        });
      },
      table.columns[column].cells);
  return rows;
}

RowOrder matching_rows(const FullTable& table, const RowOrder& rows, std::string_view filter) {
  const std::string wanted = in_lower_case(filter);
  RowOrder matching;
  for (const std::uint32_t row : rows)
    if (table.searched[row].contains(wanted)) matching.push_back(row);
  return matching;
}

std::string csv_of(const FullTable& table, const RowOrder& rows) {
  std::string text;
  for (const TableColumn& column : table.columns) text.append(text.empty() ? "" : ",").append(column.id);
  text += kCsvLineEnd;
  for (const std::uint32_t row : rows) {
    bool is_first = true;
    for (const TableColumn& column : table.columns) {
      if (!is_first) text += ',';
      is_first = false;
      append_csv_field(text, std::visit([&](const auto& cells) { return csv_text(cells[row]); }, column.cells));
    }
    text += kCsvLineEnd;
  }
  return text;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter += 'a' - 'A';
  return lower;
}

}  // namespace telltale::answers
