#include "base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace telltale {
namespace {

std::string plain(std::string_view inside) {
  Repairs repairs;
  return unescaped(inside, repairs);
}

TEST(Unescaped, resolves_all_escapes_that_json_has) {
  EXPECT_EQ(plain(R"(a\"b\\c\/d\n\t\r\b\f)"), "a\"b\\c/d\n\t\r\b\f");
  EXPECT_EQ(plain(R"(\u0041\u00e9\u20AC\ud83d\ude00)"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(Unescaped, says_what_it_repaired) {
  Repairs repairs;
  EXPECT_EQ(unescaped(R"(C:\Users)", repairs), R"(C:\Users)");
  EXPECT_TRUE(repairs.invalid_escape);
  repairs = {};
  EXPECT_EQ(unescaped(R"(\ud83dx)", repairs), "\xEF\xBF\xBDx");
  EXPECT_TRUE(repairs.invalid_utf8);
  repairs = {};
  EXPECT_EQ(unescaped("a\xFF", repairs), "a\xEF\xBF\xBD");
  EXPECT_TRUE(repairs.invalid_utf8);
  repairs = {};
  EXPECT_EQ(unescaped("a\nb", repairs), "a\nb");
  EXPECT_TRUE(repairs.control_character);
  repairs = {};
  EXPECT_EQ(unescaped("clean", repairs), "clean");
  EXPECT_FALSE(repairs.invalid_escape || repairs.invalid_utf8 || repairs.control_character);
}

TEST(CompactJson, removes_white_space_and_nothing_else) {
  EXPECT_EQ(compact_json(" [ [16, 1000] ,\n [ ] , { \"a b\" : \"c  d\" , \"e\":1.50 } ] "),
            R"([[16,1000],[],{"a b":"c  d","e":1.50}])");
  EXPECT_EQ(compact_json("7"), "7");
}

TEST(CompactJson, turns_words_that_json_does_not_know_into_text) {
  EXPECT_EQ(compact_json("[NaN, -inf, true, null, 01]"), R"(["NaN","-inf",true,null,"01"])");
}

TEST(CompactJson, repairs_strings) {
  EXPECT_EQ(compact_json("\"a\nb\xFF\\q\\u00e9\""), "\"a\\u000ab\xEF\xBF\xBD\\\\q\\u00e9\"");
}

TEST(CompactJson, refuses_what_is_no_value) {
  for (const char* text :
       {"", "[", "[1 2]", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "[1}", "1 2", "\"abc", "[]]", "{,}"})
    EXPECT_EQ(compact_json(text), std::nullopt) << text;
}

TEST(CompactJson, gives_valid_json_of_the_same_meaning) {
  for (const char* text : {R"({"a":[1,2,{"b":null}],"c":"\u0041"})", "[[],{},[[]]]", "\"\""})
    EXPECT_EQ(nlohmann::json::parse(*compact_json(text)), nlohmann::json::parse(text)) << text;
}

TEST(CompactJson, takes_nesting_far_deeper_than_the_stack) {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_EQ(compact_json(deep), deep);
}

}  // namespace
}  // namespace telltale
