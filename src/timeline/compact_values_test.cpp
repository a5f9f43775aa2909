#include "timeline/compact_values.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

void expect_kept(const std::vector<std::int64_t>& values) {
  const auto compact = CompactValues::of(values);
  ASSERT_TRUE(compact);
  ASSERT_EQ(compact->size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ((*compact)[i], values[i]);
}

TEST(CompactValues, give_back_what_was_put_in) {
  expect_kept({});
  expect_kept({0, 0});
  expect_kept({0, 1, 4'294'967'295});
  expect_kept({512, 80'000'000'000 / 512 * 512, 1024, 0});
  expect_kept({INT64_MAX, 0});
}

TEST(CompactValues, are_none_where_32_bits_do_not_do) {
  EXPECT_FALSE(CompactValues::of(std::vector<std::int64_t>{1, 4'294'967'296}));
  EXPECT_FALSE(CompactValues::of(std::vector<std::int64_t>{-512, 512}));
  EXPECT_FALSE(CompactValues::of(std::vector<std::int64_t>{INT64_MAX, INT64_MAX - 1}));
  EXPECT_FALSE(CompactValues::of(std::vector<std::int64_t>{INT64_MIN}));
}

}  // namespace
}  // namespace telltale
