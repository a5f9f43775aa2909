#include "base/json_string.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

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

}  // namespace
}  // namespace telltale
