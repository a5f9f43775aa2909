// A table of the page before anybody asks for a part of it: all rows, by column, and how they are put in order, looked
// through and written.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "answers/view_colors.h"
#include "trace/trace.h"

namespace telltale::answers {

enum class CellUnit : std::uint8_t { kText, kNanoseconds, kBytes, kCount, kPercent, kFlops };
std::string_view name_of(CellUnit unit);  // "text", "ns", …

using Texts = std::vector<std::string>;
using Wholes = std::vector<std::optional<std::int64_t>>;
using Shares = std::vector<std::optional<double>>;

struct TableColumn {
  std::string id, title;
  CellUnit unit = CellUnit::kText;
  std::string text;                           // what it means
  std::variant<Texts, Wholes, Shares> cells;  // by row
};

struct FullTable {
  std::vector<TableColumn> columns;  // the first is the rows' name
  Texts shown_names;                 // by row, likewise below: the name, short enough to read
  std::vector<ColorIndex> color;
  std::vector<EventId> example;
  Texts search;               // the exact name of its events; empty where they have none
  Texts searched;             // what a filter looks at, in lower case
  std::size_t sorted_by = 0;  // the column that is sorted by where nobody says otherwise
  std::size_t mean_of = 0;    // over so many steps its numbers are a step's mean; 0 where they are sums

  std::size_t size() const { return example.size(); }
  // The number of a column; nothing where there is none of that id.
  std::optional<std::size_t> column_named(std::string_view id) const;
};

using RowOrder = std::vector<std::uint32_t>;

// All rows by one column. What is absent comes last; rows that are alike stay in the order in which the table has them.
RowOrder sorted_rows(const FullTable& table, std::size_t column, bool is_falling);

// Those that contain the text in their name, shapes or stack, whatever its case.
RowOrder matching_rows(const FullTable& table, const RowOrder& rows, std::string_view filter);

// A header of ids, then a line a row.
std::string csv_of(const FullTable& table, const RowOrder& rows);

// Letters of ASCII in lower case.
std::string in_lower_case(std::string_view text);

}  // namespace telltale::answers
