// Makes the columns of tables: of the trace's own memory where it has the right form, else of new memory.
//
// A function `get` says what stands in row i. Where it returns an optional, what is absent is null.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/core/arrow_table.h"
#include "trace/trace.h"

namespace telltale::python {

// Arrow's words for the types of numbers.
template <typename Number>
constexpr const char* format_of() {
  if constexpr (std::same_as<Number, std::int8_t>) return "c";
  if constexpr (std::same_as<Number, std::uint8_t>) return "C";
  if constexpr (std::same_as<Number, std::int32_t>) return "i";
  if constexpr (std::same_as<Number, std::uint32_t>) return "I";
  if constexpr (std::same_as<Number, std::int64_t>) return "l";
  if constexpr (std::same_as<Number, std::uint64_t>) return "L";
  if constexpr (std::same_as<Number, float>) return "f";
  if constexpr (std::same_as<Number, double>) return "g";
}

// A buffer that owns its memory. Never a null pointer, which some readers take amiss even where there are no rows.
template <typename Value>
std::shared_ptr<const void> buffer_of(std::vector<Value> values) {
  if (values.empty()) values.resize(1);
  const auto owner = std::make_shared<const std::vector<Value>>(std::move(values));
  return {owner, owner->data()};
}

// Bits, the lowest of a byte first; as bitmaps of what is not null, and for columns of true and false.
class Bits {
 public:
  explicit Bits(std::size_t count) : bytes_((count + 7) / 8) {}
  void set(std::size_t i) { bytes_[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8)); }
  std::shared_ptr<const void> buffer() && { return buffer_of(std::move(bytes_)); }

 private:
  std::vector<std::uint8_t> bytes_;
};

// Makes those rows null for which `is_null(i)`.
template <typename IsNull>
ArrowColumn with_nulls(ArrowColumn column, const IsNull& is_null) {
  column.may_be_null = true;
  Bits present(static_cast<std::size_t>(column.length));
  for (std::size_t i = 0; i < static_cast<std::size_t>(column.length); ++i) {
    if (is_null(i))
      ++column.null_count;
    else
      present.set(i);
  }
  if (column.null_count > 0) column.buffers[0] = std::move(present).buffer();
  return column;
}

// A column of the trace as it stands in memory; `trace` owns `values`.
template <typename Value>
ArrowColumn column_of(std::string name, const std::shared_ptr<const Trace>& trace, const std::vector<Value>& values) {
  const auto length = static_cast<std::int64_t>(values.size());
  if (values.empty())
    return {std::move(name), format_of<Value>(), 0, 0, false, {nullptr, buffer_of(std::vector<Value>())}};
  return {std::move(name), format_of<Value>(),
          length,          0,
          false,           {nullptr, std::shared_ptr<const void>(trace, values.data())}};
}

template <typename Value>
ArrowColumn column_of(std::string name, std::vector<Value> values) {
  const auto length = static_cast<std::int64_t>(values.size());
  return {std::move(name), format_of<Value>(), length, 0, false, {nullptr, buffer_of(std::move(values))}};
}

template <typename Optional>
concept IsOptional = requires(Optional value) { value.has_value(); };

// Numbers, one a row.
template <typename Get>
ArrowColumn numbers(std::string name, std::size_t rows, const Get& get) {
  using Got = std::invoke_result_t<Get, std::size_t>;
  if constexpr (IsOptional<Got>) {
    std::vector<typename Got::value_type> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = get(i).value_or(0);
    return with_nulls(column_of(std::move(name), std::move(values)), [&get](std::size_t i) { return !get(i); });
  } else {
    std::vector<Got> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = get(i);
    return column_of(std::move(name), std::move(values));
  }
}

// What a trace stores as -1 where it was not recorded.
template <typename Number>
std::optional<Number> recorded(Number value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

// An event, or nothing where there is none.
inline std::optional<EventId> event_or_null(EventId event) {
  return event == kNoEvent ? std::nullopt : std::optional(event);
}

// True or false; `get` returns std::optional<bool>.
template <typename Get>
ArrowColumn truths(std::string name, std::size_t rows, const Get& get) {
  Bits values(rows);
  for (std::size_t i = 0; i < rows; ++i)
    if (get(i).value_or(false)) values.set(i);
  ArrowColumn column{
      std::move(name), "b", static_cast<std::int64_t>(rows), 0, false, {nullptr, std::move(values).buffer()}};
  return with_nulls(std::move(column), [&get](std::size_t i) { return !get(i); });
}

// A column of plain texts. Repairs what is no UTF-8.
ArrowColumn texts(std::string name, std::span<const std::string_view> values);

// `indices` stand for `words`.
ArrowColumn dictionary_of(ArrowColumn indices, std::span<const std::string_view> words);

// Interned texts, as a dictionary of those that occur.
enum class EmptyText : std::uint8_t { kIsText, kIsNull };
ArrowColumn interned(std::string name, const Trace& trace, const std::vector<StringId>& ids,
                     EmptyText empty = EmptyText::kIsNull);

template <typename Get>
std::vector<StringId> ids_of(std::size_t rows, const Get& get) {
  std::vector<StringId> ids(rows);
  for (std::size_t i = 0; i < rows; ++i) ids[i] = get(i);
  return ids;
}

// Lists of whole numbers: row i has those of `values` from offsets[i] to offsets[i + 1].
ArrowColumn number_lists(std::string name, std::vector<std::int64_t> offsets, std::vector<std::int64_t> values);

// A table of columns that are all as long as it is.
ArrowTable table_of(std::string name, std::size_t rows, std::vector<ArrowColumn> columns);

}  // namespace telltale::python
