#include "advise/amounts.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(Amounts, times_have_three_digits_and_the_unit_that_fits) {
  EXPECT_EQ(duration_in_words(840), "0.84 µs");
  EXPECT_EQ(duration_in_words(840'000), "840 µs");
  EXPECT_EQ(duration_in_words(999'600), "1.00 ms");
  EXPECT_EQ(duration_in_words(12'512'345), "12.5 ms");
  EXPECT_EQ(duration_in_words(999'900'000), "1.00 s");
  EXPECT_EQ(duration_in_words(125'000'000'000), "125 s");
}

TEST(Amounts, sizes_have_three_digits_and_the_unit_that_fits) {
  EXPECT_EQ(size_in_words(4), "4 bytes");
  EXPECT_EQ(size_in_words(1024), "1.00 KiB");
  EXPECT_EQ(size_in_words(38'535'168), "36.8 MiB");
  EXPECT_EQ(size_in_words(1023.9 * 1024 * 1024), "1.00 GiB");
  EXPECT_EQ(size_in_words(1e18), "909495 TiB");
}

TEST(Amounts, counts_are_whole_where_they_can_be) {
  EXPECT_EQ(count_in_words(3), "3");
  EXPECT_EQ(count_in_words(12.5), "12.5");
  EXPECT_EQ(count_in_words(1.0 / 3), "0.333");
  EXPECT_EQ(count_in_words(1500.4), "1500");
  EXPECT_EQ(counted_in_words(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted_in_words(0.5, "kernel"), "0.5 kernels");
}

}  // namespace
}  // namespace telltale
