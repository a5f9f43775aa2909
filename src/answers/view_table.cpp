#include "answers/view_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <span>

#include "answers/suggestion.h"
#include "answers/table_rows.h"
#include "answers/view_steps.h"
#include "report/compact_json.h"

namespace telltale::answers {
namespace {

constexpr std::int64_t kMostRows = 1000;
constexpr std::size_t kLongestText = 2000;

// Where all of it would not be read.
std::string_view start_of(std::string_view text) {
  if (text.size() <= kLongestText) return text;
  std::size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a letter
  return text.substr(0, end);
}

void append_cell(std::string& out, const std::string& cell) { append_json(out, start_of(cell)); }
template <typename Number>
void append_cell(std::string& out, const std::optional<Number>& cell) {
  append_json(out, cell);
}

}  // namespace

template <typename Fields>
void describe(Fields& fields, const TableColumn& column) {
  fields.object("Column", "A column of a table");
  fields.member("id", column.id, "what `sort` takes");
  fields.member("title", column.title, "what stands above it");
  fields.member("unit", column.unit, "of its numbers");
  fields.member("text", column.text, "what it means");
}

std::string TableAnswer::json() const {
  const std::size_t first = std::min(offset, rows->size());
  const std::span<const std::uint32_t> page = std::span(*rows).subspan(first, std::min(limit, rows->size() - first));
  std::string text = "{\"columns\":" + compact_json_of(table->columns);
  text += fmt::format(",\"sort\":\"{}\",\"order\":\"{}\",\"mean_of\":{}", table->columns[sorted_by].id,
                      is_falling ? "falling" : "rising", table->mean_of);
  text += fmt::format(",\"total\":{},\"all\":{},\"offset\":{},\"rows\":[", rows->size(), table->size(), offset);
  for (const std::uint32_t row : page) {
    text += row == page.front() ? "{\"cells\":[" : ",{\"cells\":[";
    append_json(text, table->shown_names[row]);
    for (const TableColumn& column : std::span(table->columns).subspan(1)) {
      text += ',';
      std::visit([&](const auto& cells) { append_cell(text, cells[row]); }, column.cells);
    }
    text += fmt::format("],\"color\":{},\"example\":", table->color[row]);
    append_json(text, event_or_null(table->example[row]));
    text += ",\"search\":";
    append_json(text, or_null(table->search[row]));
    text += '}';
  }
  return text + "]}";
}

std::string TableAnswer::csv() const { return csv_of(*table, *rows); }

Result<TableAnswer> table(const View& view, const TableRequest& request) {
  if (request.offset < 0) return failure(fmt::format("offset must be 0 or more, not {}", request.offset));
  if (request.limit < 1 || request.limit > kMostRows)
    return failure(fmt::format("limit must be from 1 to {}, not {}", kMostRows, request.limit));
  const auto whole = full_table(view, {request.rows, request.group, request.steps});
  if (!whole) return std::unexpected(whole.error());
  const FullTable& all = **whole;

  std::size_t column = all.sorted_by;
  if (request.sort) {
    const auto named = all.column_named(*request.sort);
    if (!named) {
      std::vector<std::string> known;
      for (const TableColumn& each : all.columns) known.push_back(each.id);
      return failure(fmt::format("sort cannot be '{}'{}", *request.sort, suggestion_or_choice(*request.sort, known)));
    }
    column = *named;
  }
  if (request.order && *request.order != "falling" && *request.order != "rising")
    return failure(fmt::format("order cannot be '{}'{}", *request.order,
                               suggestion_or_choice(*request.order, {"falling", "rising"})));
  const bool is_falling = request.order ? *request.order == "falling" : all.columns[column].unit != CellUnit::kText;
  const OrderKey order{{request.rows, request.group, request.steps}, column, is_falling, {}};
  OrderKey filtered = order;
  filtered.filter = request.filter;
  const auto rows = view.kept->orders.get(order, [&] { return sorted_rows(all, column, is_falling); });
  return TableAnswer{
      .table = *whole,
      .rows = request.filter.empty()
                  ? rows
                  : view.kept->orders.get(filtered, [&] { return matching_rows(all, *rows, request.filter); }),
      .sorted_by = column,
      .is_falling = is_falling,
      .offset = static_cast<std::size_t>(request.offset),
      .limit = static_cast<std::size_t>(request.limit)};
}

}  // namespace telltale::answers
