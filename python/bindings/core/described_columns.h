// The columns of Arrow tables, made as the tables of a trace are described (trace/columns.h).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/core/arrow_columns.h"
#include "bindings/core/trace_tables.h"
#include "trace/row_ids.h"

namespace telltale::python {

template <typename Number>
bool stands_for_null(Number value, Null null) {
  if constexpr (std::is_signed_v<Number>)
    if (null == Null::kNegative) return value < 0;
  if constexpr (std::same_as<Number, DeviceId>)
    if (null == Null::kHost) return value == kHost;
  if constexpr (std::same_as<Number, std::uint32_t>)
    if (null == Null::kNoRow) return value == UINT32_MAX;
  return null == Null::kZero && value == Number{};
}

inline bool may_stand_for_null(Null null) { return null != Null::kUsual && null != Null::kNever; }

inline EmptyText empty_text(Null null) { return null == Null::kNever ? EmptyText::kIsText : EmptyText::kIsNull; }

// Enumerations are numbers from 0 in memory and as indices of a dictionary; readers like these with a sign.
template <typename Value>
std::vector<std::string_view> words_of(const Value& values) {
  std::vector<std::string_view> words;
  for (const auto value : values) words.push_back(name_of(value));
  return words;
}

inline ArrowColumn described(ArrowColumn column, const ColumnInfo& info) {
  column.text = info.text;
  column.unit = info.unit;
  return column;
}

// Columns of rows: `row_at(i)` points to row i; where rows may be lacking, it may be null. Where a row names one that
// is shared, that one's columns stand in its place, behind the others.
template <typename RowAt>
class ColumnsOfRows {
 public:
  ColumnsOfRows(const Trace& trace, std::size_t rows, RowAt row_at, bool may_lack_rows)
      : trace_(trace), rows_(rows), row_at_(row_at), may_lack_rows_(may_lack_rows) {}

  void number(auto member, const ColumnInfo& info) {
    const auto null = [&](const auto& value) { return stands_for_null(value, info.null); };
    add_numbers(
        info, [member](const auto& row) { return std::invoke(member, row); }, null, may_stand_for_null(info.null));
  }
  template <std::size_t kSize>
  void numbers(auto member, const std::string_view (&names)[kSize], ColumnInfo info) {
    for (std::size_t i = 0; i < kSize; ++i) {
      info.name = names[i];
      const auto null = [&](const auto& value) { return stands_for_null(value, info.null); };
      add_numbers(info, [member, i](const auto& row) { return (row.*member)[i]; }, null, may_stand_for_null(info.null));
    }
  }
  void maybe(auto member, const ColumnInfo& info) {
    add(info, python::numbers(std::string(info.name), rows_, [&](std::size_t i) {
          const auto* row = row_at_(i);
          return row == nullptr ? decltype(auto(row->*member)){} : row->*member;
        }));
  }
  void truth(auto member, const ColumnInfo& info) {
    add(info, truths(std::string(info.name), rows_, [&](std::size_t i) -> std::optional<bool> {
          const auto* row = row_at_(i);
          return row == nullptr || row->*member < 0 ? std::nullopt : std::optional(row->*member != 0);
        }));
  }
  void text(auto member, const ColumnInfo& info) {
    const auto ids = ids_of(rows_, [&](std::size_t i) {
      const auto* row = row_at_(i);
      return row == nullptr ? kEmptyString : std::invoke(member, *row);
    });
    add(info, interned(std::string(info.name), trace_, ids, empty_text(info.null)));
  }
  void words(auto member, const ColumnInfo& info) {
    std::vector<std::string_view> values;
    for (std::size_t i = 0; i < rows_; ++i) {
      const auto* row = row_at_(i);
      values.emplace_back(row == nullptr ? std::string_view() : std::string_view(row->*member));
    }
    ArrowColumn column = texts(std::string(info.name), values);
    if (info.null != Null::kNever)
      column = with_nulls(std::move(column), [&](std::size_t i) { return values[i].empty(); });
    add(info, std::move(column));
  }
  void choice(auto member, const auto& values, const ColumnInfo& info) {
    const auto null = [&](std::int8_t value) { return stands_for_null(value, info.null); };
    add_numbers(
        info, [member](const auto& row) { return static_cast<std::int8_t>(row.*member); }, null,
        may_stand_for_null(info.null));
    columns_.back() = dictionary_of(std::move(columns_.back()), words_of(values));
  }
  void event(auto member, const ColumnInfo& info) {
    add_numbers(
        info, [member](const auto& row) { return row.*member; }, [](EventId event) { return event == kNoEvent; }, true);
  }
  template <typename Other>
  void index(auto member, RowOf<Other> other, const ColumnInfo& info) {
    if constexpr (SharedRow<Other>)
      join(member, other, may_lack_rows_);
    else
      number(member, info);
  }
  template <typename Other>
  void optional_index(auto member, RowOf<Other> other, const ColumnInfo&) {
    join(member, other, true);
  }

  std::vector<ArrowColumn> take() {
    std::ranges::move(joined_, std::back_inserter(columns_));
    return std::move(columns_);
  }

 private:
  void add(const ColumnInfo& info, ArrowColumn column) {
    if (info.is_shown) columns_.push_back(described(std::move(column), info));
  }
  void add_numbers(const ColumnInfo& info, auto value_of, auto is_null, bool may_be_null) {
    std::vector<decltype(value_of(*row_at_(0)))> values(rows_);
    for (std::size_t i = 0; i < rows_; ++i)
      if (const auto* row = row_at_(i)) values[i] = value_of(*row);
    ArrowColumn column = column_of(std::string(info.name), std::move(values));
    if (may_be_null || may_lack_rows_) {
      column = with_nulls(std::move(column), [&](std::size_t i) {
        const auto* row = row_at_(i);
        return row == nullptr || is_null(value_of(*row));
      });
    }
    add(info, std::move(column));
  }
  template <SharedRow Shared>
  void join(auto member, RowOf<Shared> shared, bool may_lack_rows) {
    const auto shared_at = [this, member](std::size_t i) -> const Shared* {
      const auto* row = row_at_(i);
      const std::uint32_t id = row == nullptr ? UINT32_MAX : std::invoke(member, *row);
      return id == UINT32_MAX ? nullptr : &shared_rows<Shared>(trace_)[id];
    };
    ColumnsOfRows<decltype(shared_at)> columns(trace_, rows_, shared_at, may_lack_rows);
    describe(columns, shared);
    std::ranges::move(columns.take(), std::back_inserter(joined_));
  }

  const Trace& trace_;
  std::size_t rows_;
  RowAt row_at_;
  bool may_lack_rows_;
  std::vector<ArrowColumn> columns_, joined_;
};

template <typename Row, typename RowAt>
std::vector<ArrowColumn> columns_of_rows(const Trace& trace, std::size_t rows, RowAt row_at, RowOf<Row> description) {
  ColumnsOfRows<RowAt> columns(trace, rows, row_at, false);
  describe(columns, description);
  return columns.take();
}

// Columns of a table that the trace keeps as columns: its own memory where that has the right form, or copies of the
// rows that were chosen.
template <typename Table>
class ColumnsOfTable {
 public:
  ColumnsOfTable(const SharedTrace& trace, const Table& table, const std::vector<EventId>* chosen)
      : trace_(trace), table_(table), chosen_(chosen) {}

  void number(auto column, const ColumnInfo& info) {
    const auto null = [&](const auto& value) { return stands_for_null(value, info.null); };
    add(info, table_.*column, null, may_stand_for_null(info.null));
  }
  void index(auto column, auto, const ColumnInfo& info) { number(column, info); }
  void event(auto column, const ColumnInfo& info) {
    add(info, table_.*column, [](EventId event) { return event == kNoEvent; }, true);
  }
  void text(std::vector<StringId> Table::* column, const ColumnInfo& info) {
    const std::vector<StringId>& all = table_.*column;
    if (chosen_ == nullptr && !all.empty()) {
      columns_.push_back(described(interned(std::string(info.name), *trace_, all, empty_text(info.null)), info));
      return;
    }
    const auto ids = ids_of(rows(), [&](std::size_t i) { return all.empty() ? kEmptyString : all[row(i)]; });
    columns_.push_back(described(interned(std::string(info.name), *trace_, ids, empty_text(info.null)), info));
  }
  template <typename Value>
  void choice(std::vector<Value> Table::* column, const auto& values, const ColumnInfo& info) {
    static_assert(sizeof(Value) == sizeof(std::int8_t));
    const std::vector<Value>& all = table_.*column;
    const auto number = [&](std::size_t i) { return static_cast<std::int8_t>(all[row(i)]); };
    ArrowColumn numbered = numbers(std::string(info.name), chosen_ == nullptr ? 0 : rows(), number);
    if (chosen_ == nullptr && !all.empty()) {
      numbered.length = static_cast<std::int64_t>(all.size());
      numbered.buffers[1] = std::shared_ptr<const void>(trace_, all.data());
    }
    columns_.push_back(described(dictionary_of(std::move(numbered), words_of(values)), info));
  }

  std::vector<ArrowColumn> take() { return std::move(columns_); }

 private:
  std::size_t rows() const { return chosen_ == nullptr ? table_.size() : chosen_->size(); }
  std::size_t row(std::size_t i) const { return chosen_ == nullptr ? i : (*chosen_)[i]; }

  template <typename Value>
  void add(const ColumnInfo& info, const std::vector<Value>& values, auto is_null, bool may_be_null) {
    const std::string name(info.name);
    ArrowColumn column = chosen_ == nullptr ? column_of(name, trace_, values)
                                            : numbers(name, rows(), [&](std::size_t i) { return values[row(i)]; });
    if (may_be_null) column = with_nulls(std::move(column), [&](std::size_t i) { return is_null(values[row(i)]); });
    columns_.push_back(described(std::move(column), info));
  }

  const SharedTrace& trace_;
  const Table& table_;
  const std::vector<EventId>* chosen_;  // null: all
  std::vector<ArrowColumn> columns_;
};

template <typename Table>
std::vector<ArrowColumn> columns_of_table(const SharedTrace& trace, const Table& table,
                                          const std::vector<EventId>* chosen = nullptr) {
  ColumnsOfTable<Table> columns(trace, table, chosen);
  describe(columns, RowOf<Table>{});
  return columns.take();
}

}  // namespace telltale::python
