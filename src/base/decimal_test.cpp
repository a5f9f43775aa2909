#include "base/decimal.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace telltale {
namespace {

Decimal scan(const std::string& text, int scale) { return scan_decimal((text + "\"\"\"\"\"\"\"\"").c_str(), scale); }

std::int64_t value(const std::string& text, int scale = 3) {
  const Decimal number = scan(text, scale);
  EXPECT_EQ(number.status, DecimalStatus::kOk) << text;
  return number.value;
}

TEST(Decimal, keeps_nanoseconds_that_a_double_would_lose) {
  EXPECT_EQ(value("3848178908617.106"), 3848178908617106);
  EXPECT_EQ(value("1711111111111111.231"), 1711111111111111231);
}

TEST(Decimal, takes_every_form_that_json_has) {
  EXPECT_EQ(value("0"), 0);
  EXPECT_EQ(value("-1.5"), -1500);
  EXPECT_EQ(value("7"), 7000);
  EXPECT_EQ(value("1.2"), 1200);
  EXPECT_EQ(value("1e3"), 1000000);
  EXPECT_EQ(value("1.5E+2"), 150000);
  EXPECT_EQ(value("1234567e-4"), 123457);
  EXPECT_EQ(value("0.0000001e7"), 1000);
}

TEST(Decimal, rounds_half_away_from_zero_beyond_the_scale) {
  EXPECT_EQ(value("0.0004"), 0);
  EXPECT_EQ(value("0.0005"), 1);
  EXPECT_EQ(value("-0.0005"), -1);
  EXPECT_EQ(value("0.00049999999999999999999"), 0);
  EXPECT_EQ(value("5e-4"), 1);
  EXPECT_EQ(value("4e-5"), 0);
  EXPECT_EQ(value("2.5", 0), 3);
}

TEST(Decimal, is_a_whole_text_or_none) {
  EXPECT_EQ(whole_decimal("-12").value, -12);
  EXPECT_EQ(whole_decimal("2.5").value, 3);
  EXPECT_EQ(whole_decimal("1e30").status, DecimalStatus::kOutOfRange);
  for (const char* text : {"", "12 ", " 12", "12a", "-", "1e"})
    EXPECT_EQ(whole_decimal(text).status, DecimalStatus::kNotANumber) << text;
}

TEST(Decimal, says_when_a_number_is_too_large_or_none) {
  EXPECT_EQ(scan("9223372036854775807", 0).value, INT64_MAX);
  EXPECT_EQ(scan("9223372036854775808", 0).status, DecimalStatus::kOutOfRange);
  EXPECT_EQ(scan("9223372036854775.807", 3).value, INT64_MAX);
  EXPECT_EQ(scan("1e400", 3).status, DecimalStatus::kOutOfRange);
  EXPECT_EQ(scan("1e-999999999999", 3).value, 0);
  EXPECT_EQ(scan("0e999999999999", 3).value, 0);
  for (const char* text : {"", "-", "null", "NaN", ".5", "+1"})
    EXPECT_EQ(scan(text, 3).status, DecimalStatus::kNotANumber) << text;
}

// The oracle writes whole and fractional parts separately and never sees the text as one number.
TEST(Decimal, agrees_with_separately_written_parts_on_random_numbers) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t whole = static_cast<std::int64_t>(random() >> (random() % 50 + 11));
    const int digits = static_cast<int>(random() % 4);
    std::int64_t fraction = 0;
    std::string text = std::to_string(whole);
    if (digits > 0) text += '.';
    for (int d = 0; d < 3; ++d) {
      const int digit = d < digits ? static_cast<int>(random() % 10) : 0;
      if (d < digits) text += static_cast<char>('0' + digit);
      fraction = fraction * 10 + digit;
    }
    ASSERT_EQ(value(text), whole * 1000 + fraction) << text;
  }
}

TEST(Decimal, reads_addresses_of_all_64_bits) {
  EXPECT_EQ(scan_unsigned("18446744073709551615\"").value, UINT64_MAX);
  EXPECT_EQ(scan_unsigned("18446744073709551616\"").status, DecimalStatus::kOutOfRange);
  EXPECT_EQ(scan_unsigned("-1\"").status, DecimalStatus::kNotANumber);
}

}  // namespace
}  // namespace telltale
