#include "serve/secret.h"

#include <gtest/gtest.h>

#include <set>

namespace telltale::serve {
namespace {

TEST(Secret, is_256_bits_and_another_one_each_time) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto secret = new_secret();
    ASSERT_TRUE(secret);
    EXPECT_EQ(secret->size(), 64U);
    EXPECT_EQ(secret->find_first_not_of("0123456789abcdef"), std::string::npos) << *secret;
    EXPECT_TRUE(seen.insert(*secret).second);
  }
}

TEST(Secret, is_the_same_only_as_itself) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "bbc", "ABC"}) EXPECT_FALSE(is_same_secret(other, "abc")) << other;
}

}  // namespace
}  // namespace telltale::serve
