// Rows of a table to columns of bytes. Its counterpart is ColumnReader: the two have the same functions, so that one
// description of a row serves both (see table_rows.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tell/table_layout.h"
#include "tell/varint.h"

namespace telltale::tell {

class ColumnWriter {
 public:
  void begin_row() { at_ = 0; }

  template <typename Integer>
  void integer(Integer value) {
    put(zigzag(static_cast<std::int64_t>(value)));
  }
  // Never negative.
  void unsigned_integer(std::int64_t value) { put(static_cast<std::uint64_t>(value)); }
  // Mostly larger than in the row before, by not much.
  template <typename Integer>
  void rising(Integer value) {
    Column& column = here();
    const auto bits = static_cast<std::uint64_t>(value);
    put(zigzag(static_cast<std::int64_t>(bits - column.last)));
    column.last = bits;
  }
  // A row of another table: its number, which is checked when it is read.
  void index(std::uint32_t value, TableId) { put(value); }
  void text(StringId value) { put(value); }
  // UINT32_MAX: none.
  void optional_index(std::uint32_t value, TableId) { put(value == UINT32_MAX ? 0 : std::uint64_t{value} + 1); }
  // Mostly near to that of the row before; kNoEvent: none.
  void event(EventId value) {
    Column& column = here();
    if (value == kNoEvent) return put(0);
    put(zigzag(static_cast<std::int64_t>(value) - static_cast<std::int64_t>(column.last)) + 1);
    column.last = value;
  }
  void real(double value) { fixed(std::bit_cast<std::uint64_t>(value)); }
  void real(float value) { put(std::bit_cast<std::uint32_t>(value)); }
  template <typename Value, std::size_t kCount>
  void choice(Value value, const Value (&numbers)[kCount]) {
    put(static_cast<std::uint64_t>(std::ranges::find(numbers, value) - std::begin(numbers)));
  }
  void flag(bool value) { put(value ? 1 : 0); }
  void words(std::string_view value) {
    Column& column = here();
    put(value.size());
    column.bytes.append(value);
  }
  template <typename Integer>
  void maybe(const std::optional<Integer>& value) {
    flag(value.has_value());
    integer(value.value_or(0));
  }
  void list(const std::vector<std::int64_t>& values) {
    Column& column = here();
    put(values.size());
    for (const std::int64_t value : values) append_varint(column.bytes, zigzag(value));
  }

  std::size_t bytes() const;
  // All columns, each behind its length; what was written is forgotten.
  void take(std::string& into);

 private:
  struct Column {
    std::string bytes;
    std::uint64_t last = 0;
  };

  static void append_varint(std::string& bytes, std::uint64_t value) {
    if (value < 0x80) {
      bytes.push_back(static_cast<char>(value));
      return;
    }
    unsigned char buffer[kMaxVarintBytes];
    const unsigned char* end = put_varint(buffer, value);
    bytes.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
  }
  Column& here() {
    if (at_ == columns_.size()) columns_.emplace_back();
    return columns_[at_];
  }
  void put(std::uint64_t value) {
    append_varint(here().bytes, value);
    ++at_;
  }
  void fixed(std::uint64_t value) {
    here().bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    ++at_;
  }

  std::vector<Column> columns_;
  std::size_t at_ = 0;
};

}  // namespace telltale::tell
