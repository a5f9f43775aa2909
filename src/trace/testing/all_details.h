// A trace that has all details there are, made from their descriptions: whatever goes through all columns can be tested
// with it, for side tables that nobody has thought of yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "trace/row_ids.h"
#include "trace/trace.h"

namespace telltale {

// Sets each column of a row to another value, none of them the default. Texts and shared rows are new ones of a trace.
template <typename Row>
struct Filled {
  Row& row;
  Trace& trace;
  int& next;

  void number(auto member, const ColumnInfo&) {
    auto& value = std::invoke(member, row);
    value = static_cast<std::remove_reference_t<decltype(value)>>(next++);
  }
  template <std::size_t kSize>
  void numbers(auto member, const std::string_view (&)[kSize], const ColumnInfo&) {
    for (auto& value : row.*member) value = next++;
  }
  void truth(auto member, const ColumnInfo&) { row.*member = static_cast<std::int8_t>(next++ % 2); }
  void choice(auto member, const auto& values, const ColumnInfo&) {
    row.*member = values[1 + static_cast<std::size_t>(next++) % (std::size(values) - 1)];
  }
  void text(auto member, const ColumnInfo&) {
    std::invoke(member, row) = trace.strings.intern("text " + std::to_string(next++));
  }
  void event(auto member, const ColumnInfo&) { row.*member = static_cast<EventId>(trace.events.size() - 1); }
  template <SharedRow Shared>
  void index(auto member, RowOf<Shared> shared, const ColumnInfo&) {
    auto& rows = shared_rows<Shared>(static_cast<SharedRows<RowList>&>(trace));
    std::invoke(member, row) = static_cast<std::uint32_t>(rows.size());
    rows.push_back(Shared{});
    Filled<Shared> filled{rows.back(), trace, next};
    describe(filled, shared);
  }
  template <SharedRow Shared>
  void optional_index(auto member, RowOf<Shared> shared, const ColumnInfo& info) {
    index(member, shared, info);
  }
};

// What stands in a row, with texts and shared rows as what they mean.
template <typename Row>
struct Meaning {
  const Row& row;
  const Trace& trace;
  std::string meaning{};

  void add(const auto& value) { meaning += std::to_string(value) + ", "; }
  void number(auto member, const ColumnInfo&) { add(std::invoke(member, row)); }
  template <std::size_t kSize>
  void numbers(auto member, const std::string_view (&)[kSize], const ColumnInfo&) {
    for (const auto value : row.*member) add(value);
  }
  void truth(auto member, const ColumnInfo&) { add(row.*member); }
  void choice(auto member, const auto&, const ColumnInfo&) { meaning += name_of(row.*member); }
  void text(auto member, const ColumnInfo&) { meaning += std::string(trace.strings[std::invoke(member, row)]) + ", "; }
  void event(auto member, const ColumnInfo&) { meaning += std::string(trace.name(row.*member)) + ", "; }
  template <SharedRow Shared>
  void index(auto member, RowOf<Shared> shared, const ColumnInfo&) {
    Meaning<Shared> inner{shared_rows<Shared>(trace)[std::invoke(member, row)], trace};
    describe(inner, shared);
    meaning += inner.meaning;
  }
  template <SharedRow Shared>
  void optional_index(auto member, RowOf<Shared> shared, const ColumnInfo& info) {
    index(member, shared, info);
  }
};

template <typename Row>
std::string meaning_of(const Trace& trace, const Row& row, auto description) {
  Meaning<Row> meaning{row, trace};
  describe(meaning, description);
  return meaning.meaning;
}

// Two operators on a thread, from 0 to 100 and from 200 to 300, each with a row in every side table: every column of
// every row has another value, and none its default.
inline Trace trace_with_all_details() {
  Trace trace;
  trace.processes.emplace_back();
  trace.tracks.push_back({.event_count = 2});
  trace.events.start = {0, 200};
  trace.events.duration = {100, 100};
  trace.events.name = {trace.strings.intern("first"), trace.strings.intern("second")};
  trace.events.kind = {Kind::kOperator, Kind::kOperator};
  trace.events.track = {0, 0};
  trace.events.parent = trace.events.cause = {kNoEvent, kNoEvent};
  trace.duration = 300;
  int next = 40;
  for (const EventId event : {0U, 1U}) {
    for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
      if (info.is_worked_out) return;
      auto& table = table_of(trace);
      auto row = std::remove_cvref_t<decltype(table.row(0))>{};
      Filled<decltype(row)> filled{row, trace, next};
      describe(filled, description);
      table.append(event, row);
    });
  }
  trace.strings.shrink();
  return trace;
}

}  // namespace telltale
