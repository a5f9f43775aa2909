#include "answers/spelling.h"

#include <gtest/gtest.h>

namespace telltale::answers {
namespace {

TEST(Spelling, names_options_as_the_reader_wrote_them) {
  EXPECT_EQ(spelled(Spelling::kFlags, "min_saving"), "--min-saving");
  EXPECT_EQ(spelled(Spelling::kKeywords, "min_saving"), "min_saving");
  EXPECT_EQ(spelled(Spelling::kFlags, "rules"), "--rule");
  EXPECT_EQ(spelled(Spelling::kKeywords, "rules"), "rules");
  EXPECT_EQ(spelled(Spelling::kFlags, "output"), "-o");
}

TEST(Spelling, quotes_values_that_could_be_taken_for_something_else) {
  EXPECT_EQ(spelled(Spelling::kFlags, "steps", "7..9"), "--steps 7..9");
  EXPECT_EQ(spelled(Spelling::kKeywords, "steps", "7..9"), "steps=7..9");
  EXPECT_EQ(spelled(Spelling::kFlags, "remove", "kernel:"), "--remove 'kernel:'");
  EXPECT_EQ(spelled(Spelling::kKeywords, "remove", ""), "remove=''");
}

}  // namespace
}  // namespace telltale::answers
