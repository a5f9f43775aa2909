#include "base/code_points.h"

#include <gtest/gtest.h>

#include "base/text_encoding.h"

namespace telltale {
namespace {

std::string utf8(std::uint32_t code) {
  std::string out;
  append_utf8(out, code);
  return out;
}

// From RFC 3629 and the Unicode charts.
TEST(CodePoints, take_one_to_four_bytes) {
  EXPECT_EQ(utf8('A'), "A");
  EXPECT_EQ(utf8(0xE9), "\xC3\xA9");
  EXPECT_EQ(utf8(0x20AC), "\xE2\x82\xAC");
  EXPECT_EQ(utf8(0x1F600), "\xF0\x9F\x98\x80");
  EXPECT_EQ(utf8(kReplacementCharacter), "\xEF\xBF\xBD");
}

TEST(CodePoints, change_their_length_where_the_standard_says) {
  EXPECT_EQ(utf8(0x7F).size(), 1U);
  EXPECT_EQ(utf8(0x80), "\xC2\x80");
  EXPECT_EQ(utf8(0x7FF), "\xDF\xBF");
  EXPECT_EQ(utf8(0x800), "\xE0\xA0\x80");
  EXPECT_EQ(utf8(0xFFFF), "\xEF\xBF\xBF");
  EXPECT_EQ(utf8(0x10000), "\xF0\x90\x80\x80");
  EXPECT_EQ(utf8(0x10FFFF), "\xF4\x8F\xBF\xBF");
}

TEST(CodePoints, are_valid_but_for_surrogates) {
  for (std::uint32_t code = 0; code < 0x110000; ++code) {
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    ASSERT_EQ(is_utf8(utf8(code)), !is_surrogate) << code;
  }
}

TEST(CodePoints, are_appended) {
  std::string out = "in ";
  append_utf8(out, 0x3BC);
  out += 's';
  EXPECT_EQ(out, "in \xCE\xBCs");
}

}  // namespace
}  // namespace telltale
