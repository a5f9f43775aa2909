#include "capture/cuda/correlations.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

TEST(Correlations, KeepNumbersApartWhenTheyBeginAnew) {
  Correlations correlations;
  correlations.begin_anew();
  const std::uint64_t first = correlations.unwrapped(1), later = correlations.unwrapped(900'000);
  EXPECT_EQ(later - first, 899'999U);
  correlations.begin_anew();
  EXPECT_GT(correlations.unwrapped(1), later);
  EXPECT_EQ(correlations.unwrapped(7) - correlations.unwrapped(1), 6U);
}

TEST(Correlations, GoOnBehindTheLastOfThirtyTwoBits) {
  Correlations correlations;
  correlations.begin_anew();
  const std::uint64_t origin = correlations.unwrapped(0);
  // As a program of a day counts: each number is asked for by the call, some also by late device work.
  std::uint64_t expected = 0;
  for (std::uint64_t id = 1; id < (std::uint64_t{3} << 32); id += 500'000'003) {
    expected = id;
    EXPECT_EQ(correlations.unwrapped(static_cast<std::uint32_t>(id)) - origin, expected);
    const std::uint64_t late = id > 1'000'000 ? id - 1'000'000 : id;
    correlations.note_newest(static_cast<std::uint32_t>(late));
    EXPECT_EQ(correlations.unwrapped(static_cast<std::uint32_t>(late)) - origin, late);
  }
  correlations.begin_anew();
  EXPECT_GT(correlations.unwrapped(0) - origin, expected);
}

}  // namespace
}  // namespace telltale::capture
