// The tables of a trace in a .tell file, their columns, and the numbers by which they know kinds of things. See
// docs/formats/tell.md.
//
// Lists and side tables are written as they are described (trace/columns.h). Here are the tables that a file has beyond
// those, or holds in another way than the trace does.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "base/interned_values.h"
#include "trace/trace.h"

namespace telltale::tell {

// The numbers are part of the file format. Those of lists and side tables are TableInfo::number.
enum class TableId : std::uint8_t {
  kRowCounts = 0,
  kTrace = 1,
  kStrings = 2,
  kLabels = 6,
  kEvents = 7,
  kMemory = 23,
  kCounterValues = 24,
  kDistributed = 28,
  kProcessGroups = 29,
  kAnomalies = 30,
};

inline constexpr std::size_t kTableCount = [] {
  auto last = static_cast<std::size_t>(TableId::kAnomalies);
  const auto note = [&](const TableInfo& info, auto, auto) { last = std::max<std::size_t>(last, info.number); };
  for_each_side_table(note);
  for_each_list(note);
  return last + 1;
}();

// How many rows each table has in all.
using RowCounts = std::array<std::uint64_t, kTableCount>;

struct RowCount {
  std::uint64_t table = 0;
  std::uint64_t rows = 0;
};
constexpr void describe(auto& columns, RowOf<RowCount>) {
  columns.number(&RowCount::table, {});
  columns.number(&RowCount::rows, {});
}

// What the numbers in a file stand for. New ones are added at the end, whatever the order in the program.
inline constexpr Kind kFileKinds[] = {
    Kind::kOperator,    Kind::kAnnotation, Kind::kPython, Kind::kModule,  Kind::kRuntime,    Kind::kDriver,
    Kind::kKernel,      Kind::kMemcpy,     Kind::kMemset, Kind::kSync,    Kind::kCollective, Kind::kDeviceAnnotation,
    Kind::kDeviceOther, Kind::kOverhead,   Kind::kSpan,   Kind::kInstant, Kind::kAsync,      Kind::kOther,
};
static_assert(std::size(kFileKinds) == kKindCount);

// A name and a kind that go together: far fewer than events.
struct Label {
  StringId name = kEmptyString;
  Kind kind = Kind::kOther;
  bool operator==(const Label&) const = default;
};
constexpr void describe(auto& columns, RowOf<Label>) {
  columns.text(&Label::name, {});
  columns.choice(&Label::kind, kFileKinds, {});
}
inline std::uint64_t hash_value(const Label& label) {
  return hash_with(hash_with(0, label.name), static_cast<std::uint64_t>(label.kind));
}

// The track follows from the tracks' ranges, the parent from the times.
struct EventRow {
  std::uint32_t label = 0;
  Nanoseconds start = 0, duration = 0;
  EventId cause = kNoEvent;
};
constexpr void describe(auto& columns, RowOf<EventRow>) {
  columns.index(&EventRow::label, RowOf<Label>{}, {});
  columns.number(&EventRow::start, {.rises = true});
  columns.unsigned_number(&EventRow::duration);
  columns.event(&EventRow::cause, {});
}

struct MemoryRow {
  Nanoseconds time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  DeviceId device = kHost;
  std::int64_t allocated_beyond = 0, reserved_beyond = 0;  // see MemoryTotals
  TrackId track = 0;
  EventId event = kNoEvent;
  StringId pool = kEmptyString;
};
constexpr void describe(auto& columns, RowOf<MemoryRow>) {
  columns.number(&MemoryRow::time, {.rises = true});
  columns.number(&MemoryRow::address, {.rises = true});
  columns.number(&MemoryRow::bytes, {});
  columns.number(&MemoryRow::device, {});
  columns.number(&MemoryRow::allocated_beyond, {});
  columns.number(&MemoryRow::reserved_beyond, {});
  columns.index(&MemoryRow::track, RowOf<Track>{}, {});
  columns.event(&MemoryRow::event, {});
  columns.text(&MemoryRow::pool, {});
}
static_assert(describes_all_members<MemoryRow>);

// What the totals of a device should be after an event, from those after the one before it: allocated grows by the
// event's bytes, reserved does not change. Only what differs is written. Sums wrap, as the bytes of a file may be
// anything.
class MemoryTotals {
 public:
  struct Totals {
    std::uint64_t allocated = 0, reserved = 0;
  };
  Totals& expected(DeviceId device, std::int64_t bytes) {
    Totals& totals = by_device_[device];
    totals.allocated += static_cast<std::uint64_t>(bytes);
    return totals;
  }

 private:
  std::unordered_map<DeviceId, Totals> by_device_;
};

struct CounterRow {
  Nanoseconds time = 0;
  double value = 0;
};
constexpr void describe(auto& columns, RowOf<CounterRow>) {
  columns.number(&CounterRow::time, {.rises = true});
  columns.number(&CounterRow::value, {});
}

// The event that a row of a side table is about: they ascend.
struct EventKey {
  EventId event = 0;
};
constexpr void describe(auto& columns, RowOf<EventKey>) { columns.number(&EventKey::event, {.rises = true}); }

// An anomaly by its word, so that it does not depend on the order in the program.
struct AnomalyRow {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t byte_offset = 0;
  std::string text;
};
constexpr void describe(auto& columns, RowOf<AnomalyRow>) {
  columns.words(&AnomalyRow::name, {});
  columns.number(&AnomalyRow::count, {});
  columns.number(&AnomalyRow::byte_offset, {});
  columns.words(&AnomalyRow::text, {});
}

// The table of such rows, for numbers of them.
template <typename Row>
consteval TableId table_of_rows() {
  if (std::same_as<Row, Events>) return TableId::kEvents;
  if (std::same_as<Row, Label>) return TableId::kLabels;
  std::optional<TableId> table;
  for_each_list([&]<typename Listed>(const TableInfo& info, auto, RowOf<Listed>) {
    if (std::same_as<Row, Listed>) table = TableId{info.number};
  });
  return table.value();  // does not compile where no list has such rows
}

// Puts a row into columns, or takes it from them, as it is described: `Columns` is a ColumnWriter or a ColumnReader. A
// row that is written is const. Always inlined, so that nothing of the description is left in the loop over the rows.
template <typename Columns, typename Row>
class RowInColumns {
 public:
  RowInColumns(Columns& columns, Row& row) : columns_(columns), row_(row) {}

  [[gnu::always_inline]] void number(auto member, const ColumnInfo& info) {
    if (is_lacking(info)) return;
    auto& value = std::invoke(member, row_);
    if constexpr (std::floating_point<std::remove_cvref_t<decltype(value)>>)
      columns_.real(value);
    else if (info.rises)
      columns_.rising(value);
    else
      columns_.integer(value);
  }
  template <std::size_t kSize>
  [[gnu::always_inline]] void numbers(auto member, const std::string_view (&)[kSize], const ColumnInfo& info) {
    if (is_lacking(info)) return;
    for (auto& value : row_.*member) columns_.integer(value);
  }
  [[gnu::always_inline]] void unsigned_number(auto member) { columns_.unsigned_integer(row_.*member); }
  [[gnu::always_inline]] void maybe(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.maybe(row_.*member);
  }
  [[gnu::always_inline]] void list(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.list(row_.*member);
  }
  [[gnu::always_inline]] void truth(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.integer(row_.*member);
  }
  [[gnu::always_inline]] void flag(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.flag(row_.*member);
  }
  [[gnu::always_inline]] void text(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.text(std::invoke(member, row_));
  }
  [[gnu::always_inline]] void words(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.words(row_.*member);
  }
  [[gnu::always_inline]] void choice(auto member, const auto& values, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.choice(row_.*member, values);
  }
  [[gnu::always_inline]] void event(auto member, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.event(row_.*member);
  }
  template <typename Other>
  [[gnu::always_inline]] void index(auto member, RowOf<Other>, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.index(std::invoke(member, row_), table_of_rows<Other>());
  }
  template <typename Other>
  [[gnu::always_inline]] void optional_index(auto member, RowOf<Other>, const ColumnInfo& info) {
    if (!is_lacking(info)) columns_.optional_index(std::invoke(member, row_), table_of_rows<Other>());
  }

 private:
  // A file from before the column was added; the row keeps its default.
  bool is_lacking(const ColumnInfo& info) const { return info.is_new && columns_.is_behind_last_column(); }

  Columns& columns_;
  Row& row_;
};

template <typename Columns, typename Row, typename Described>
void columns_of(Columns& columns, Row& row, RowOf<Described> description) {
  RowInColumns<Columns, Row> in_columns(columns, row);
  describe(in_columns, description);
}
template <typename Columns, typename Row>
void columns_of(Columns& columns, Row& row) {
  columns_of(columns, row, RowOf<std::remove_const_t<Row>>{});
}

}  // namespace telltale::tell
