// Rows of a table to columns of bytes, and back. The two have the same functions, so that one description of a row
// serves both (see table_layout.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/tell/table_layout.h"
#include "tell/varint.h"

// Of a function that calls a small one for each column of each row: inlined, reading takes a sixth less. Sanitizers
// check all that is inlined, which takes a minute to compile and makes nothing faster.
#ifdef NDEBUG
#define TELLTALE_INLINE_CALLS [[gnu::flatten]]
#else
#define TELLTALE_INLINE_CALLS
#endif

namespace telltale::tell {

class ColumnWriter {
 public:
  void begin_row() { at_ = 0; }
  static constexpr bool is_behind_last_column() { return false; }  // a writer writes all

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

// The bytes may be anything: what cannot be is noticed, and gives a value that can.
class ColumnReader {
 public:
  // Reads the columns of one chunk; `counts` says how many rows there are of each table, for numbers of them.
  ColumnReader(ByteReader payload, const RowCounts& counts);

  void begin_row() { at_ = 0; }
  // Whether the chunk lacks the next column and all behind it, as it does where they were added after it was written.
  bool is_behind_last_column() const { return at_ >= columns_.size(); }

  template <typename Integer>
  void integer(Integer& value) {
    assign(value, unzigzag(next()));
  }
  void unsigned_integer(std::int64_t& value) {
    value = static_cast<std::int64_t>(next());
    require(value >= 0);
  }
  template <typename Integer>
  void rising(Integer& value) {
    Column& column = here();
    column.last += static_cast<std::uint64_t>(unzigzag(next()));
    if constexpr (sizeof(Integer) == sizeof column.last)
      value = static_cast<Integer>(column.last);
    else
      assign(value, static_cast<std::int64_t>(column.last));
  }
  void index(std::uint32_t& value, TableId table) { value = bounded(next(), table); }
  void text(StringId& value) { value = bounded(next(), TableId::kStrings); }
  void optional_index(std::uint32_t& value, TableId table) {
    const std::uint64_t number = next();
    value = number == 0 ? UINT32_MAX : bounded(number - 1, table);
  }
  void event(EventId& value) {
    Column& column = here();
    const std::uint64_t number = next();
    if (number == 0) {
      value = kNoEvent;
      return;
    }
    column.last += static_cast<std::uint64_t>(unzigzag(number - 1));
    value = bounded(column.last, TableId::kEvents);
  }
  void real(double& value) { value = std::bit_cast<double>(here().bytes.fixed64()), ++at_; }
  void real(float& value) {
    std::uint32_t bits = 0;
    assign(bits, static_cast<std::int64_t>(next()));
    value = std::bit_cast<float>(bits);
  }
  template <typename Value, std::size_t kCount>
  void choice(Value& value, const Value (&numbers)[kCount]) {
    const std::uint64_t number = next();
    is_possible_ &= number < kCount;
    value = numbers[number < kCount ? number : 0];
  }
  // One that was added after the chunk was written is not set.
  void flag(bool& value) { value = !is_behind_last_column() && next() != 0; }
  void words(std::string& value);
  template <typename Integer>
  void maybe(std::optional<Integer>& value) {
    bool has_value = false;
    Integer number = 0;
    flag(has_value);
    integer(number);
    if (has_value) value = number;
  }
  void list(std::vector<std::int64_t>& values);

  // What a row's own check found out.
  void require(bool condition) { is_possible_ &= condition; }

  // Whether there are bytes for so many rows: each takes at least one of the first column.
  bool has_room_for(std::uint64_t rows) const { return !columns_.empty() && rows <= columns_.front().bytes.left(); }
  bool is_good() const;

 private:
  struct Column {
    ByteReader bytes;
    std::uint64_t last = 0;
  };

  Column& here() { return at_ < columns_.size() ? columns_[at_] : missing_; }
  std::uint64_t next() {
    const std::uint64_t value = here().bytes.varint();
    ++at_;
    return value;
  }
  std::uint32_t bounded(std::uint64_t value, TableId table) {
    const bool is_in = value < counts_[static_cast<std::size_t>(table)];
    is_possible_ &= is_in;
    return is_in ? static_cast<std::uint32_t>(value) : 0;
  }
  template <typename Integer>
  void assign(Integer& value, std::int64_t read) {
    const bool fits = std::in_range<Integer>(read);
    is_possible_ &= fits;
    value = fits ? static_cast<Integer>(read) : Integer{};
  }

  const RowCounts& counts_;
  std::vector<Column> columns_;
  Column missing_;  // has no bytes, so that reading it is noticed
  std::size_t at_ = 0;
  bool is_possible_ = true;
};

}  // namespace telltale::tell
