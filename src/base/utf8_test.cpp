#include "base/utf8.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(Utf8, takes_characters_of_every_length) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_TRUE(is_utf8(text));
  EXPECT_EQ(repaired_utf8(text), text);
}

TEST(Utf8, refuses_overlong_forms_surrogates_and_what_lies_beyond_unicode) {
  EXPECT_FALSE(is_utf8("\xC0\x80"));
  EXPECT_FALSE(is_utf8("\xE0\x9F\xBF"));
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(is_utf8("\x80"));
}

// The worked example of the Unicode standard, table 3-8.
TEST(Utf8, replaces_maximal_invalid_parts_as_the_standard_recommends) {
  EXPECT_EQ(repaired_utf8("\xF0\x80\x80\x41"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\x41");
  EXPECT_EQ(repaired_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\x41");
}

TEST(Utf8, repairs_a_character_cut_at_the_end) { EXPECT_EQ(repaired_utf8("a\xE2\x82"), "a\xEF\xBF\xBD"); }

}  // namespace
}  // namespace telltale
