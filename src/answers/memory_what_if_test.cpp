#include "answers/memory_what_if.h"

#include <gtest/gtest.h>

namespace telltale::answers {
namespace {

TEST(ParsedCapacity, is_a_size_with_a_unit) {
  EXPECT_EQ(parsed_capacity("24GB", Spelling::kFlags).value(), std::int64_t{24} << 30);
  EXPECT_EQ(parsed_capacity("1.5g", Spelling::kFlags).value(), std::int64_t{3} << 29);
  EXPECT_EQ(parsed_capacity("1048576B", Spelling::kFlags).value(), 1 << 20);
}

TEST(ParsedCapacity, refuses_what_makes_no_sense_in_the_words_of_who_asks) {
  const auto sentence = [](std::string_view text, Spelling spelling) {
    return parsed_capacity(text, spelling).error().message;
  };
  EXPECT_EQ(sentence("24", Spelling::kFlags), "--fits 24 has no unit: write --fits 24GB");
  EXPECT_EQ(sentence("24", Spelling::kKeywords), "fits=24 has no unit: write fits=24GB");
  for (const std::string_view text : {"", "much", "0GB", "-1GB", "2000000GB", "1e400GB", "nanGB", "GB"})
    EXPECT_TRUE(sentence(text, Spelling::kFlags).contains("is not a size: write --fits 24GB")) << text;
}

}  // namespace
}  // namespace telltale::answers
