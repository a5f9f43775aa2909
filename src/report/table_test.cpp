#include "report/table.h"

#include <gtest/gtest.h>

#include "report/shown_names.h"

namespace telltale {
namespace {

Table small_table() {
  Table table;
  table.label_header = "Name";
  table.labels = {"first", "a_rather_long_name_of_an_operator"};
  table.columns = {{"Time", {"1.00 ms", "12 ns"}, 0}, {"Calls", {"3", "4"}, 1}, {"Memory", {"5 B", "6 B"}, 2}};
  table.fit_labels = fitted_names;
  return table;
}

TEST(Table, aligns_numbers_on_the_right) {
  EXPECT_EQ(render(small_table(), {.width = 80}),
            "Name                                  Time  Calls  Memory\n"
            "first                              1.00 ms      3     5 B\n"
            "a_rather_long_name_of_an_operator    12 ns      4     6 B\n");
}

TEST(Table, cuts_labels_before_it_drops_columns) {
  EXPECT_EQ(render(small_table(), {.width = 48}),
            "Name                         Time  Calls  Memory\n"
            "first                     1.00 ms      3     5 B\n"
            "a_rather_long_name_of_a…    12 ns      4     6 B\n");
}

TEST(Table, drops_the_most_dispensable_column_first) {
  EXPECT_EQ(render(small_table(), {.width = 47}),
            "Name                                Time  Calls\n"
            "first                            1.00 ms      3\n"
            "a_rather_long_name_of_an_opera…    12 ns      4\n");
}

TEST(Table, keeps_indispensable_columns_on_the_narrowest_screen) {
  EXPECT_EQ(render(small_table(), {.width = 5}),
            "Name                         Time\n"
            "first                     1.00 ms\n"
            "a_rather_long_name_of_a…    12 ns\n");
}

TEST(Table, marks_the_column_it_is_sorted_by) {
  Table table = small_table();
  table.sorted_column = 1;
  EXPECT_NE(render(table, {.width = 80}).find("Calls↓"), std::string::npos);
}

TEST(Table, prints_details_below_their_rows) {
  Table table = small_table();
  table.details = {"[[2, 3]]", ""};
  EXPECT_NE(render(table, {.width = 80}).find("5 B\n  [[2, 3]]\na_rather"), std::string::npos);
}

}  // namespace
}  // namespace telltale
