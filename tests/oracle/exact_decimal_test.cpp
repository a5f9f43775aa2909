// The oracle's own arithmetic, against values worked out by hand.
#include "exact_decimal.h"

#include <gtest/gtest.h>

namespace telltale::oracle {
namespace {

using Outcome = ExactInteger::Outcome;

std::int64_t shifted(std::string_view text, int shift) {
  const ExactInteger result = shifted_decimal(text, shift);
  EXPECT_EQ(result.outcome, Outcome::kFits) << text;
  return result.value;
}

TEST(ExactDecimal, moves_the_point) {
  EXPECT_EQ(shifted("3847090969608.839", 3), 3847090969608839);
  EXPECT_EQ(shifted("12", 3), 12000);
  EXPECT_EQ(shifted("-0.5", 3), -500);
  EXPECT_EQ(shifted("0.0001", 3), 0);
  EXPECT_EQ(shifted("1.5e2", 0), 150);
  EXPECT_EQ(shifted("1500E-3", 3), 1500);
}

TEST(ExactDecimal, rounds_half_away_from_zero) {
  EXPECT_EQ(shifted("0.5", 0), 1);
  EXPECT_EQ(shifted("-0.5", 0), -1);
  EXPECT_EQ(shifted("0.49999999999999999999", 0), 0);
  EXPECT_EQ(shifted("9.5", 0), 10);
  EXPECT_EQ(shifted("0.05", 0), 0);
  EXPECT_EQ(shifted("99999.9999", 3), 100000000);
}

TEST(ExactDecimal, knows_its_limits) {
  EXPECT_EQ(shifted("9223372036854775807", 0), INT64_MAX);
  EXPECT_EQ(shifted("-9223372036854775807", 0), -INT64_MAX);
  EXPECT_EQ(shifted_decimal("9223372036854775808", 0).outcome, Outcome::kTooLarge);
  EXPECT_EQ(shifted_decimal("9223372036854775807.5", 0).outcome, Outcome::kTooLarge);
  EXPECT_EQ(shifted_decimal("1e999999999999", 0).outcome, Outcome::kTooLarge);
  EXPECT_EQ(shifted("0e999999999999", 0), 0);
  EXPECT_EQ(shifted("1e-999999999999", 0), 0);
}

TEST(ExactDecimal, takes_whole_numbers_only) {
  for (const std::string_view text : {"", "-", ".5", "5.", "1e", "1e+", "0x10", " 1", "1 ", "+1", "1.2.3", "nan"})
    EXPECT_EQ(shifted_decimal(text, 0).outcome, Outcome::kNotANumber) << text;
}

}  // namespace
}  // namespace telltale::oracle
