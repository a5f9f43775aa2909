// That every member of every row is described is asserted where it is (describes_all_members in columns.h); here is
// what follows from a description.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <string>

#include "trace/row_ids.h"
#include "trace/slice.h"
#include "trace/testing/all_details.h"
#include "trace/trace.h"

namespace telltale {
namespace {

struct ThreeMembers {
  static constexpr int kNoMember = 7;
  std::array<std::int32_t, 3> sizes{};
  StringId text = kEmptyString;
  std::optional<std::int64_t> bytes;
};
constexpr void describe(auto& columns, RowOf<ThreeMembers>) {
  columns.numbers(&ThreeMembers::sizes, {"x", "y", "z"}, {});
  columns.text(&ThreeMembers::text, {.name = "text"});
}
static_assert(member_count<ThreeMembers>() == 3);
static_assert(described_member_count<ThreeMembers>() == 2);
static_assert(!describes_all_members<ThreeMembers>);  // one is forgotten

TEST(Descriptions, let_a_slice_keep_every_member_of_every_detail) {
  const Trace whole = trace_with_all_details();
  const Trace part = slice(whole, selection_of(whole, {150, 300}));
  ASSERT_EQ(part.events.size(), 1u);
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    if (info.is_worked_out) return;
    ASSERT_EQ(table_of(part).size(), 1u) << info.name;
    const auto meaning = [&](const Trace& trace, std::size_t i) {
      return meaning_of(trace, table_of(trace).row(i), description);
    };
    EXPECT_EQ(meaning(part, 0), meaning(whole, 1)) << info.name;
    EXPECT_NE(meaning(part, 0), meaning(whole, 0)) << info.name;
  });
  for_each_shared_list([&](const TableInfo& info, auto rows_in, auto) {
    EXPECT_EQ(rows_in(whole).size(), 2u) << info.text;
    EXPECT_EQ(rows_in(part).size(), 1u) << info.text;
  });
}

TEST(Descriptions, give_each_table_a_name_and_a_number_of_its_own) {
  std::set<std::string_view> names;
  std::set<int> numbers;
  std::size_t named = 0, all = 0;
  const auto note = [&](const TableInfo& info, auto, auto) {
    EXPECT_FALSE(info.text.empty());
    numbers.insert(info.number);
    ++all;
    if (info.name.empty()) return;
    names.insert(info.name);
    ++named;
  };
  for_each_side_table(note);
  for_each_list(note);
  EXPECT_EQ(names.size(), named);
  EXPECT_EQ(numbers.size(), all);
}

TEST(Descriptions, count_every_table_in_the_size_of_a_trace) {
  const std::size_t nothing = Trace().memory_bytes();
  for_each_side_table([&](const TableInfo& info, auto table_of, auto) {
    Trace trace;
    table_of(trace).reserve(1000);
    EXPECT_EQ(trace.memory_bytes() - nothing, table_of(trace).memory_bytes()) << info.name;
    EXPECT_GE(table_of(trace).memory_bytes(), 5000u) << info.name;
  });
}

TEST(Descriptions, tell_apart_whatever_differs_in_a_shared_row) {
  EXPECT_NE(hash_value(KernelLaunch{.grid = {1, 2, 3}}), hash_value(KernelLaunch{.grid = {1, 3, 2}}));
  EXPECT_NE(hash_value(SourceLocation{.line = 1}), hash_value(SourceLocation{.line = 2}));
  EXPECT_NE(hash_value(OperatorInputs{.shapes = 1}), hash_value(OperatorInputs{.strides = 1}));
}

}  // namespace
}  // namespace telltale
