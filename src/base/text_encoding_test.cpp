#include "base/text_encoding.h"

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

TEST(JsonString, is_the_text_in_quotation_marks) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("aten::mm [16, 1000]"), R"("aten::mm [16, 1000]")");
}

TEST(JsonString, escapes_what_json_does_not_allow_in_strings) {
  EXPECT_EQ(json_string(R"(say "no" to C:\)"), R"("say \"no\" to C:\\")");
  EXPECT_EQ(json_string("a\b\f\n\r\tb"), R"("a\b\f\n\r\tb")");
  EXPECT_EQ(json_string(std::string_view("\0\x01\x1f\x7f", 4)), R"("\u0000\u0001\u001f\u007f")");
}

TEST(JsonString, keeps_utf8_and_repairs_what_is_none) {
  EXPECT_EQ(json_string("größe \u2192 \U0001F600"), "\"größe \u2192 \U0001F600\"");
  EXPECT_EQ(json_string("a\xff\"b"), "\"a\uFFFD\\\"b\"");
  EXPECT_EQ(json_string("\xc3"), "\"\uFFFD\"");
}

TEST(JsonString, is_appended_to_what_is_there) {
  std::string text = "{";
  append_json_string(text, "key\n");
  EXPECT_EQ(text, R"({"key\n")");
}

std::string field(std::string_view text) {
  std::string out;
  append_csv_field(out, text);
  return out;
}

TEST(CsvText, leaves_plain_fields_as_they_are) {
  EXPECT_EQ(field(""), "");
  EXPECT_EQ(field("aten::mm 'a' ; b"), "aten::mm 'a' ; b");
}

TEST(CsvText, quotes_fields_that_would_end_too_early) {
  EXPECT_EQ(field("f(a, b)"), "\"f(a, b)\"");
  EXPECT_EQ(field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(field("two\rlines"), "\"two\rlines\"");
}

TEST(CsvText, doubles_quotation_marks) { EXPECT_EQ(field(R"(say "no")"), R"("say ""no""")"); }

}  // namespace

}  // namespace telltale
