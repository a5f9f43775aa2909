#include "words/step_range_text.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

bool has(const std::optional<StepRange>& range, std::int64_t index) {
  Step step;
  step.index = index;
  return range && range->contains(step);
}

TEST(StepRangeText, takes_one_step_and_ranges_with_both_ends_included) {
  EXPECT_TRUE(has(parsed_step_range("5"), 5));
  EXPECT_FALSE(has(parsed_step_range("5"), 6));
  EXPECT_TRUE(has(parsed_step_range("3..7"), 3));
  EXPECT_TRUE(has(parsed_step_range("3..7"), 7));
  EXPECT_FALSE(has(parsed_step_range("3..7"), 8));
}

TEST(StepRangeText, takes_ranges_that_are_open_on_one_side) {
  EXPECT_TRUE(has(parsed_step_range("3.."), 1'000'000));
  EXPECT_FALSE(has(parsed_step_range("3.."), 2));
  EXPECT_TRUE(has(parsed_step_range("..7"), 0));
  EXPECT_FALSE(has(parsed_step_range("..7"), 8));
}

TEST(StepRangeText, refuses_what_is_no_range) {
  for (const char* text : {"", "..", "7..3", "a", "3...7", "3-7", "-1", "3..7..9", "1.5"}) {
    EXPECT_EQ(parsed_step_range(text).has_value(), false) << text;
  }
}

}  // namespace
}  // namespace telltale
