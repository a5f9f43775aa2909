// Whoever compares traces must see a difference in any column.
#include "compare_traces.h"

#include <gtest/gtest.h>

#include "trace/testing/all_details.h"

namespace telltale::oracle {
namespace {

// Changes the column of that number, and counts columns.
struct ColumnChange {
  const int wanted;
  int count = 0;

  bool is_wanted() { return count++ == wanted; }
};

template <typename Row>
struct ChangedRow {
  Row& row;
  ColumnChange& change;
  Trace& trace;

  void number(auto member, const ColumnInfo&) {
    if (change.is_wanted()) ++std::invoke(member, row);
  }
  template <std::size_t kSize>
  void numbers(auto member, const std::string_view (&)[kSize], const ColumnInfo&) {
    for (auto& number : row.*member)
      if (change.is_wanted()) ++number;
  }
  void truth(auto member, const ColumnInfo&) {
    if (change.is_wanted()) row.*member = -1;
  }
  void choice(auto member, const auto& values, const ColumnInfo&) {
    if (change.is_wanted()) row.*member = values[0];
  }
  void text(auto member, const ColumnInfo&) {
    if (change.is_wanted()) std::invoke(member, row) = trace.strings.intern("another text");
  }
  void event(auto member, const ColumnInfo&) {
    if (change.is_wanted()) row.*member = kNoEvent;
  }
  template <SharedRow Shared>
  void index(auto member, RowOf<Shared> shared, const ColumnInfo&) {
    ChangedRow<Shared> changed{shared_rows<Shared>(static_cast<SharedRows<RowList>&>(trace))[std::invoke(member, row)],
                               change, trace};
    telltale::describe(changed, shared);
  }
  template <SharedRow Shared>
  void optional_index(auto member, RowOf<Shared> shared, const ColumnInfo& info) {
    index(member, shared, info);
  }
};

TEST(CompareTraces, finds_equal_ones_equal) {
  EXPECT_EQ(difference(trace_with_all_details(), trace_with_all_details(), "a", "b"), "");
}

TEST(CompareTraces, notices_another_value_in_any_column_of_any_side_table) {
  const Trace expected = trace_with_all_details();
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    if (info.is_worked_out) return;
    int columns = 1;
    for (int wanted = 0; wanted < columns; ++wanted) {
      Trace trace = trace_with_all_details();
      auto& table = table_of(trace);
      auto row = table.row(1);
      ColumnChange change{wanted};
      ChangedRow<decltype(row)> changed{row, change, trace};
      telltale::describe(changed, description);
      columns = change.count;
      std::remove_reference_t<decltype(table)> other;
      other.append(table.event(0), table.row(0));
      other.append(table.event(1), row);
      table = other;
      EXPECT_TRUE(difference(expected, trace, "a", "b").starts_with(std::string(info.name) + " 1\n"))
          << info.name << ", column " << wanted << ": " << difference(expected, trace, "a", "b");
    }
    EXPECT_GE(columns, 1) << info.name;
  });
}

}  // namespace
}  // namespace telltale::oracle
