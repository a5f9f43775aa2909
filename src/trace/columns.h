// How a table is described: once, beside its row, for everyone who goes through all of its columns.
//
// A description calls one verb of `columns` for each member of a row:
//
//   struct CopyInfo {
//     std::int64_t bytes = -1;
//     MemorySpace from = MemorySpace::kUnknown;
//   };
//   constexpr void describe(auto& columns, RowOf<CopyInfo>) {
//     columns.number(&CopyInfo::bytes,
//                    {.name = "bytes", .text = "size of the copy", .unit = Unit::kBytes, .null = Null::kNegative});
//     columns.choice(&CopyInfo::from, kMemorySpaces, {.name = "source", .text = "where from", .null = Null::kZero});
//   }
//   static_assert(describes_all_members<CopyInfo>);
//
// Slices, the size in memory, .tell files, Arrow tables, docs/python.md and the comparisons in tests are made from it.
// The order is that of the columns in .tell files: new ones come last, with `is_new`. The verbs:
//
//   number(member, info)                a whole or real number
//   numbers(member, names, info)        a std::array of numbers: a column each
//   maybe(member, info)                 a std::optional number
//   list(member, info)                  a std::vector of whole numbers
//   truth(member, info)                 a std::int8_t: 1, 0, or -1 where it was not recorded
//   flag(member, info)                  a bool
//   text(member, info)                  a StringId
//   words(member, info)                 a std::string
//   choice(member, values, info)        an enumeration with name_of(); `values` lists it from 0 on, new ones last
//   event(member, info)                 an EventId, or kNoEvent
//   index(member, RowOf<Other>{}, info)           the number of a row of another table
//   optional_index(member, RowOf<Other>{}, info)  the same, or UINT32_MAX
//
// Whoever goes through columns gives `columns` those verbs that the rows of its tables need. In tables that are kept as
// columns (Events, MemoryEvents, Counters) `member` is a std::vector of what it would be in a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace telltale {

template <typename Row>
struct RowOf {
  using type = Row;
};

enum class Unit : std::uint8_t { kNone, kNanoseconds, kBytes, kPercent };

// What stands for "not recorded", and is null where tables leave us.
enum class Null : std::uint8_t {
  kUsual,  // an empty text, an event that is none; of numbers nothing
  kNever,
  kNegative,
  kZero,
  kHost,   // a device that is the host
  kNoRow,  // UINT32_MAX
};

struct ColumnInfo {
  std::string_view name;  // as Python's tables have it
  std::string_view text;  // what it holds, in a few words
  Unit unit = Unit::kNone;
  Null null = Null::kUsual;
  bool rises = false;    // mostly larger than in the row before, by not much: .tell files hold the difference
  bool is_shown = true;  // in Python's tables
  bool is_new = false;   // added after tables were first written: files without it are read, and give its default
};

struct TableInfo {
  std::string_view name;    // as Python has it; empty: its columns are part of other tables
  std::uint8_t number = 0;  // by which .tell files know it: part of the format, never used again
  std::string_view text;    // what it holds, in a sentence
  // Of a list whose rows other tables refer to: the column with the number of the row.
  std::string_view row_name = {};
  bool is_worked_out = false;  // follows from the events; a slice works it out anew
};

// Where the rows of a table are not structs but single values, so is their only column.
inline constexpr struct WholeRow {
  constexpr auto& operator()(auto& row) const { return row; }
} kWholeRow;

// Counts the calls of a description, whatever they are.
struct DescribedMembers {
  std::size_t count = 0;
  constexpr void number(auto, ColumnInfo) { ++count; }
  template <typename Row, typename Number, std::size_t kSize>
  constexpr void numbers(std::array<Number, kSize> Row::*, const std::string_view (&)[kSize], ColumnInfo) {
    ++count;
  }
  constexpr void maybe(auto, ColumnInfo) { ++count; }
  constexpr void list(auto, ColumnInfo) { ++count; }
  constexpr void truth(auto, ColumnInfo) { ++count; }
  constexpr void flag(auto, ColumnInfo) { ++count; }
  constexpr void text(auto, ColumnInfo) { ++count; }
  constexpr void words(auto, ColumnInfo) { ++count; }
  constexpr void choice(auto, const auto&, ColumnInfo) { ++count; }
  constexpr void event(auto, ColumnInfo) { ++count; }
  constexpr void index(auto, auto, ColumnInfo) { ++count; }
  constexpr void optional_index(auto, auto, ColumnInfo) { ++count; }
};

struct AnyMember {
  template <typename Member>
  operator Member() const;
};

template <typename Row, std::size_t... kMembers>
constexpr bool can_be_made_of(std::index_sequence<kMembers...>) {
  return requires { Row{(static_cast<void>(kMembers), AnyMember{})...}; };
}

// How many members a plain struct has: as many as it can be initialized with.
template <typename Row, std::size_t kKnown = 0>
constexpr std::size_t member_count() {
  if constexpr (can_be_made_of<Row>(std::make_index_sequence<kKnown + 1>()))
    return member_count<Row, kKnown + 1>();
  else
    return kKnown;
}

template <typename Row>
constexpr std::size_t described_member_count() {
  DescribedMembers members;
  describe(members, RowOf<Row>{});
  return members.count;
}

template <typename Row>
inline constexpr bool describes_all_members = described_member_count<Row>() == member_count<Row>();

}  // namespace telltale
