#include "report/text_table.h"

#include <gtest/gtest.h>

#include "report/shown_names.h"

namespace telltale {
namespace {

TextTable small_table() {
  TextTable table;
  table.label_header = "Name";
  table.labels = {"first", "a_rather_long_name_of_an_operator_of_ours"};
  table.columns = {{"Time", {"1.00 ms", "12 ns"}, 0}, {"Calls", {"3", "4"}, 1}, {"Memory", {"5 B", "6 B"}, 2}};
  table.fit_labels = fitted_names;
  return table;
}

TEST(TextTable, aligns_numbers_on_the_right) {
  EXPECT_EQ(render(small_table(), {.width = 80}),
            "Name                                          Time  Calls  Memory\n"
            "first                                      1.00 ms      3     5 B\n"
            "a_rather_long_name_of_an_operator_of_ours    12 ns      4     6 B\n");
}

TEST(TextTable, cuts_labels_before_it_drops_columns) {
  EXPECT_EQ(render(small_table(), {.width = 56}),
            "Name                                 Time  Calls  Memory\n"
            "first                             1.00 ms      3     5 B\n"
            "a_rather_long_name_of_an_operat…    12 ns      4     6 B\n");
}

TEST(TextTable, drops_the_most_dispensable_column_first) {
  EXPECT_EQ(render(small_table(), {.width = 55}),
            "Name                                        Time  Calls\n"
            "first                                    1.00 ms      3\n"
            "a_rather_long_name_of_an_operator_of_o…    12 ns      4\n");
}

TEST(TextTable, keeps_indispensable_columns_on_the_narrowest_screen) {
  EXPECT_EQ(render(small_table(), {.width = 20}),
            "Name            Time\n"
            "first        1.00 ms\n"
            "a_rather_l…    12 ns\n");
}

TEST(TextTable, puts_whole_labels_at_the_end) {
  TextTable table = small_table();
  table.has_whole_labels = true;
  EXPECT_EQ(render(table, {.width = 56}),
            "   Time  Calls  Memory  Name\n"
            "1.00 ms      3     5 B  first\n"
            "  12 ns      4     6 B  a_rather_long_name_of_an_operator_of_ours\n");
}

TEST(TextTable, marks_the_column_it_is_sorted_by) {
  TextTable table = small_table();
  table.sorted_column = 1;
  EXPECT_NE(render(table, {.width = 80}).find("Calls↓"), std::string::npos);
}

TEST(TextTable, prints_details_below_their_rows) {
  TextTable table = small_table();
  table.details = {"[[2, 3]]", ""};
  EXPECT_NE(render(table, {.width = 80}).find("5 B\n  [[2, 3]]\na_rather"), std::string::npos);
}

}  // namespace
}  // namespace telltale
