#include "base/size_text.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(SizeText, takes_bytes_and_powers_of_1024) {
  EXPECT_EQ(parsed_size("4096"), 4096);
  EXPECT_EQ(parsed_size("12B"), 12);
  EXPECT_EQ(parsed_size("2k"), 2048);
  EXPECT_EQ(parsed_size("1.5M"), 3 << 19);
  EXPECT_EQ(parsed_size("64G"), std::uint64_t{64} << 30);
  EXPECT_EQ(parsed_size("64GiB"), std::uint64_t{64} << 30);
  EXPECT_EQ(parsed_size("1TB"), std::uint64_t{1} << 40);
}

TEST(SizeText, refuses_what_is_no_size) {
  for (const char* text : {"", "G", "-1", "4X", "4GG", "4iB", "1e30T", "nan", "inf", "4 G"}) {
    EXPECT_EQ(parsed_size(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace telltale
