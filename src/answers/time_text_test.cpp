#include "answers/time_text.h"

#include <gtest/gtest.h>

namespace telltale::answers {
namespace {

TEST(TimeText, has_a_number_and_a_unit) {
  EXPECT_EQ(parsed_time("1s"), 1'000'000'000);
  EXPECT_EQ(parsed_time("200ms"), 200'000'000);
  EXPECT_EQ(parsed_time("300us"), 300'000);
  EXPECT_EQ(parsed_time("300µs"), 300'000);
  EXPECT_EQ(parsed_time("7ns"), 7);
  EXPECT_EQ(parsed_time("0s"), 0);
}

TEST(TimeText, is_exact_down_to_nanoseconds) {
  EXPECT_EQ(parsed_time("1.5s"), 1'500'000'000);
  EXPECT_EQ(parsed_time("0.1ms"), 100'000);
  EXPECT_EQ(parsed_time(".25us"), 250);
  EXPECT_EQ(parsed_time("3.s"), 3'000'000'000);
  EXPECT_EQ(parsed_time("1234567.123456789s"), 1'234'567'123'456'789);
  EXPECT_EQ(parsed_time("1.9ns"), 1);
  EXPECT_EQ(parsed_time("3153600000s"), 3'153'600'000'000'000'000);
}

TEST(TimeText, is_nothing_else) {
  for (const char* text : {"", "s", ".s", "5", "1.5", "-1s", "1.2.3s", "1 s", "1e3s", "1m", "1min", "3153600001s",
                           "99999999999999999999s"})
    EXPECT_EQ(parsed_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace telltale::answers
