#include "compare_traces.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/row_ids.h"

namespace telltale::oracle {
namespace {

template <typename Value>
std::string shown(const Value& value) {
  std::ostringstream out;
  out.precision(17);
  if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, std::string_view>)
    out << '"' << value << '"';
  else if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, std::uint8_t> || std::is_same_v<Value, std::int8_t>)
    out << static_cast<int>(value);
  else
    out << value;
  return out.str();
}

template <typename Value>
std::string shown(const std::optional<Value>& value) {
  return value ? shown(*value) : "absent";
}

template <typename Row>
void add_row(const Trace& trace, const Row& row, auto description, std::string& text);

// A row of any table as text: its columns by name, as they are described. Texts, events and rows that are shared stand
// there as what they mean. Two rows are equal when their texts are.
template <typename Row>
class RowText {
 public:
  RowText(const Trace& trace, const Row& row, std::string& text) : trace_(trace), row_(row), text_(text) {}

  void number(auto member, const ColumnInfo& info) { add(info.name, std::invoke(member, row_)); }
  template <std::size_t kSize>
  void numbers(auto member, const std::string_view (&names)[kSize], const ColumnInfo&) {
    for (std::size_t i = 0; i < kSize; ++i) add(names[i], (row_.*member)[i]);
  }
  void maybe(auto member, const ColumnInfo& info) { add(info.name, row_.*member); }
  void list(auto member, const ColumnInfo& info) {
    for (const std::int64_t number : row_.*member) add(info.name, number);
  }
  void truth(auto member, const ColumnInfo& info) { add(info.name, row_.*member); }
  void flag(auto member, const ColumnInfo& info) { add(info.name, row_.*member); }
  void text(auto member, const ColumnInfo& info) { add(info.name, trace_.strings[std::invoke(member, row_)]); }
  void words(auto member, const ColumnInfo& info) { add(info.name, row_.*member); }
  void choice(auto member, const auto&, const ColumnInfo& info) { add(info.name, name_of(row_.*member)); }
  void event(auto member, const ColumnInfo& info) { add(info.name, oracle::describe(trace_, row_.*member)); }
  template <typename Other>
  void index(auto member, RowOf<Other> other, const ColumnInfo& info) {
    const std::uint32_t id = std::invoke(member, row_);
    if constexpr (SharedRow<Other>)
      add_row(trace_, shared_rows<Other>(trace_)[id], other, text_);
    else if constexpr (std::is_same_v<Other, Events>)
      add(info.name, oracle::describe(trace_, id));
    else
      add(info.name, id);
  }
  template <typename Other>
  void optional_index(auto member, RowOf<Other> other, const ColumnInfo& info) {
    if (std::invoke(member, row_) == UINT32_MAX)
      add(info.name, std::string_view("none"));
    else
      index(member, other, info);
  }

 private:
  template <typename Value>
  void add(std::string_view column, const Value& value) {
    text_ += std::string(text_.empty() ? "" : ", ") + std::string(column) + " " + shown(value);
  }

  const Trace& trace_;
  const Row& row_;
  std::string& text_;
};

template <typename Row>
void add_row(const Trace& trace, const Row& row, auto description, std::string& text) {
  RowText<Row> columns(trace, row, text);
  describe(columns, description);
}

// Row `i` of a table that is kept as columns.
template <typename Table>
class ColumnsText {
 public:
  ColumnsText(const Trace& trace, const Table& table, std::size_t i) : trace_(trace), table_(table), i_(i) {}

  void number(auto column, const ColumnInfo& info) { add(info, shown((table_.*column)[i_])); }
  void text(auto column, const ColumnInfo& info) {
    add(info, shown(trace_.strings[(table_.*column).empty() ? kEmptyString : (table_.*column)[i_]]));
  }
  void choice(auto column, const auto&, const ColumnInfo& info) { add(info, shown(name_of((table_.*column)[i_]))); }
  void index(auto column, auto, const ColumnInfo& info) { add(info, shown((table_.*column)[i_])); }
  void event(auto column, const ColumnInfo& info) { add(info, oracle::describe(trace_, (table_.*column)[i_])); }

  std::string take() { return std::move(text_); }

 private:
  void add(const ColumnInfo& info, const std::string& value) {
    text_ += std::string(text_.empty() ? "" : ", ") + std::string(info.name) + " " + value;
  }

  const Trace& trace_;
  const Table& table_;
  std::size_t i_;
  std::string text_;
};

template <typename Table>
std::string row_of_columns(const Trace& trace, const Table& table, std::size_t i) {
  ColumnsText<Table> columns(trace, table, i);
  describe(columns, RowOf<Table>{});
  return columns.take();
}

using TextOf = std::function<std::string(const Trace&, std::size_t)>;
using SizeOf = std::function<std::size_t(const Trace&)>;

class Comparison {
 public:
  Comparison(const Trace& a, const Trace& b, const std::string& left, const std::string& right)
      : a_(a), b_(b), left_(left), right_(right) {}

  enum class Order { kMatters, kDoesNotMatter };

  // Reports the first row that differs, and how many rows each side has where that differs too.
  void table(const std::string& name, const SizeOf& size_of, const TextOf& row_of, Order order = Order::kMatters) {
    const auto rows_of = [&](const Trace& trace) {
      std::vector<std::string> rows;
      for (std::size_t row = 0; row < size_of(trace); ++row) rows.push_back(row_of(trace, row));
      if (order == Order::kDoesNotMatter) std::ranges::sort(rows);
      return rows;
    };
    const std::vector<std::string> rows_a = rows_of(a_), rows_b = rows_of(b_);
    if (rows_a == rows_b) return;
    if (rows_a.size() != rows_b.size())
      report(name + ": number of rows", std::to_string(rows_a.size()), std::to_string(rows_b.size()));
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(rows_a, rows_b).in1 - rows_a.begin());
    const auto row_or_none = [&](const auto& rows) { return at < rows.size() ? rows[at] : std::string("no such row"); };
    report(name + " " + std::to_string(at), row_or_none(rows_a), row_or_none(rows_b));
  }

  template <typename Value>
  void value(const std::string& name, const Value& in_a, const Value& in_b) {
    if (in_a != in_b) report(name, shown(in_a), shown(in_b));
  }

  const std::string& result() const { return result_; }

 private:
  void report(const std::string& what, const std::string& in_a, const std::string& in_b) {
    result_ += what + "\n  " + left_ + ": " + in_a + "\n  " + right_ + ": " + in_b + "\n";
  }

  const Trace& a_;
  const Trace& b_;
  std::string left_, right_, result_;
};

void compare_described_tables(Comparison& comparison) {
  for_each_list([&]<typename Row>(const TableInfo& info, auto rows_in, RowOf<Row> description) {
    if (SharedRow<Row>) return;  // compared where they are used
    const auto order = std::is_same_v<Row, Flow> ? Comparison::Order::kDoesNotMatter : Comparison::Order::kMatters;
    comparison.table(
        std::string(info.name.empty() ? info.text : info.name),
        [=](const Trace& trace) { return rows_in(trace).size(); },
        [=](const Trace& trace, std::size_t i) {
          std::string text;
          add_row(trace, rows_in(trace)[i], description, text);
          return text;
        },
        order);
  });
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    comparison.table(
        std::string(info.name), [=](const Trace& trace) { return table_of(trace).size(); },
        [=](const Trace& trace, std::size_t i) {
          std::string text = describe(trace, table_of(trace).event(i));
          add_row(trace, table_of(trace).row(i), description, text);
          return text;
        });
  });
}

void compare_tables_of_columns(Comparison& comparison) {
  comparison.table(
      "events", [](const Trace& trace) { return trace.events.size(); },
      [](const Trace& trace, std::size_t i) { return row_of_columns(trace, trace.events, i); });
  comparison.table(
      "memory", [](const Trace& trace) { return trace.memory.size(); },
      [](const Trace& trace, std::size_t i) { return row_of_columns(trace, trace.memory, i); });
  comparison.table(
      "counters", [](const Trace& trace) { return trace.counters.size(); },
      [](const Trace& trace, std::size_t i) { return row_of_columns(trace, trace.counters, i); });
}

void compare_anomalies(Comparison& comparison) {
  comparison.table(
      "anomalies", [](const Trace&) { return static_cast<std::size_t>(kAnomalyCount); },
      [](const Trace& trace, std::size_t i) {
        const auto anomaly = static_cast<Anomaly>(i);
        return std::string(name_of(anomaly)) + " " + std::to_string(trace.anomalies.count(anomaly));
      });
}

// What a trace has once.
std::string header_of(const Trace& trace) {
  std::string text;
  add_row(trace, trace, RowOf<Trace>{}, text);
  add_row(trace, trace.recorded, RowOf<Recorded>{}, text);
  if (!trace.distributed) return text;
  add_row(trace, *trace.distributed, RowOf<Distributed>{}, text);
  for (const ProcessGroup& group : trace.distributed->groups) add_row(trace, group, RowOf<ProcessGroup>{}, text);
  return text;
}

}  // namespace

std::string describe(const Trace& trace, EventId event) {
  if (event == kNoEvent) return "none";
  if (event >= trace.events.size()) return "no such event " + std::to_string(event);
  std::ostringstream out;
  out << event << ' ' << trace.name(event) << " (" << name_of(trace.events.kind[event]) << ", "
      << trace.events.duration[event] << " ns at " << trace.events.start[event] << " on "
      << trace.strings[trace.tracks[trace.events.track[event]].name] << ')';
  return out.str();
}

std::string difference(const Trace& a, const Trace& b, const std::string& left, const std::string& right) {
  Comparison comparison(a, b, left, right);
  compare_tables_of_columns(comparison);
  compare_described_tables(comparison);
  compare_anomalies(comparison);
  comparison.value("header", header_of(a), header_of(b));
  return comparison.result();
}

}  // namespace telltale::oracle
