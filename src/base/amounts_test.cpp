#include "base/amounts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace telltale {
namespace {

TEST(Amounts, times_have_three_significant_digits_and_a_unit) {
  EXPECT_EQ(format_time(0), "0 ns");
  EXPECT_EQ(format_time(7), "7 ns");
  EXPECT_EQ(format_time(999), "999 ns");
  EXPECT_EQ(format_time(1'000), "1.00 µs");
  EXPECT_EQ(format_time(12'345), "12.3 µs");
  EXPECT_EQ(format_time(657'092), "657 µs");
  EXPECT_EQ(format_time(83'645'419), "83.6 ms");
  EXPECT_EQ(format_time(1'500'000'000), "1.50 s");
  EXPECT_EQ(format_time(-2'000), "-2.00 µs");
}

TEST(Amounts, long_times_are_given_in_minutes_and_hours) {
  EXPECT_EQ(format_time(59'400'000'000), "59.4 s");
  EXPECT_EQ(format_time(90'000'000'000), "1.50 min");
  EXPECT_EQ(format_time(7'200'000'000'000), "2.00 h");
}

TEST(Amounts, rounding_up_moves_on_to_the_next_unit) {
  EXPECT_EQ(format_time(999'499), "999 µs");
  EXPECT_EQ(format_time(999'500), "1.00 ms");
  EXPECT_EQ(format_time(9'996), "10.0 µs");
  EXPECT_EQ(format_time(99'960), "100 µs");
}

TEST(Amounts, bytes_are_powers_of_1024) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(-1024), "-1.00 KiB");
  EXPECT_EQ(format_bytes(501'219'328), "478 MiB");
  EXPECT_EQ(format_bytes(1000 * 1024), "1000 KiB");
  EXPECT_EQ(format_bytes(150'109'880'320), "140 GiB");
}

TEST(Amounts, flops_are_powers_of_1000) {
  EXPECT_EQ(format_flops(12), "12 FLOP");
  EXPECT_EQ(format_flops(102'005'473'280), "102 GFLOP");
}

TEST(Amounts, counts_have_their_thousands_set_apart) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1'000), "-1,000");
}

TEST(Amounts, shares_have_one_decimal) {
  EXPECT_EQ(format_share(0.2976), "29.8 %");
  EXPECT_EQ(format_share(1), "100.0 %");
}

TEST(Amounts, numbers_without_a_unit_have_three_digits_or_are_whole) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(12), "12");
  EXPECT_EQ(format_number(1.834), "1.83");
  EXPECT_EQ(format_number(-18.34), "-18.3");
  EXPECT_EQ(format_number(183.4), "183");
  EXPECT_EQ(format_number(12345.6), "12,346");
  EXPECT_EQ(format_number(0.00125), "0.00125");
  EXPECT_EQ(format_number(2.5e18), "2.5e+18");
}

TEST(Amounts, nouns_agree_with_their_counts) {
  EXPECT_EQ(counted(0, "kernel"), "0 kernels");
  EXPECT_EQ(counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted(2, "kernel"), "2 kernels");
  EXPECT_EQ(counted(0.5, "kernel"), "0.5 kernels");
  EXPECT_EQ(counted(1.002, "kernel"), "1 kernel");
  EXPECT_EQ(counted(1500.4, "kernel"), "1,500 kernels");
  EXPECT_EQ(counted(1, "copy", "copies"), "1 copy");
  EXPECT_EQ(counted(2, "copy", "copies"), "2 copies");
}

TEST(Amounts, once_and_twice_have_words_of_their_own) {
  EXPECT_EQ(how_often(0), "0 times");
  EXPECT_EQ(how_often(1), "once");
  EXPECT_EQ(how_often(2), "twice");
  EXPECT_EQ(how_often(2.5), "2.50 times");
  EXPECT_EQ(how_often(3), "3 times");
}

TEST(Amounts, lists_end_with_a_joining_word) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(listed(Words{}), "");
  EXPECT_EQ(listed(Words{"a"}), "a");
  EXPECT_EQ(listed(Words{"a", "b"}), "a and b");
  EXPECT_EQ(listed(Words{"a", "b", "c"}, "or"), "a, b or c");
}

std::string page_text(const std::string& kind, const std::string& amount) {
  if (kind == "number") return format_number(std::stod(amount));
  if (kind == "share") return format_share(std::stod(amount));
  if (kind == "percent") return format_percent(std::stod(amount));
  if (kind == "kernel") return counted(std::stod(amount), "kernel");
  const std::int64_t whole = std::stoll(amount);
  if (kind == "time") return format_time(whole);
  if (kind == "bytes") return format_bytes(whole);
  if (kind == "flops") return format_flops(whole);
  return kind == "count" ? format_count(whole) : "an unknown kind";
}

// The page has its own code for amounts (web/src/format.ts): both are held to the same file.
TEST(Amounts, read_as_in_the_page) {
  std::ifstream file(TELLTALE_SOURCE_DIR "/web/tests/amounts.txt");
  std::string line;
  int lines = 0;
  for (; std::getline(file, line); ++lines) {
    std::istringstream columns(line);
    std::string kind, amount, text;
    std::getline(std::getline(std::getline(columns, kind, '\t'), amount, '\t'), text);
    EXPECT_EQ(page_text(kind, amount), text) << kind << " " << amount;
  }
  EXPECT_GT(lines, 100);
}

}  // namespace
}  // namespace telltale
