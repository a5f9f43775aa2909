#include "report/text_width.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(TextWidth, counts_columns_not_bytes) {
  EXPECT_EQ(display_width("12 µs"), 5);
  EXPECT_EQ(display_width("a…b"), 3);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("\xFF"), 1);
}

TEST(TextWidth, cuts_at_the_end_and_says_so) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdef", 4), "abc…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(TextWidth, wraps_between_words) {
  EXPECT_EQ(wrapped_words("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped_words("incomprehensible word", 6), (std::vector<std::string>{"incom…", "word"}));
  EXPECT_EQ(wrapped_words("", 6), std::vector<std::string>{""});
}

TEST(TextWidth, pads_by_columns) {
  EXPECT_EQ(padded_left("µs", 4), "  µs");
  EXPECT_EQ(padded_right("µs", 4), "µs  ");
  EXPECT_EQ(padded_left("longer", 3), "longer");
}

TEST(TextWidth, no_name_from_a_file_can_steer_the_terminal) {
  EXPECT_EQ(printable("a\x1b[31mred\x07"), "a·[31mred·");
  EXPECT_EQ(printable("two\nlines\tand a tab"), "two lines and a tab");
  EXPECT_EQ(printable("µ日\u202Eevil"), "µ日·evil");
  EXPECT_EQ(printable("\u009b31m"), "·31m");
}

}  // namespace
}  // namespace telltale
