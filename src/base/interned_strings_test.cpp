#include "base/interned_strings.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace telltale {
namespace {

TEST(InternedStrings, the_empty_string_is_id_zero) {
  InternedStrings strings;
  EXPECT_EQ(strings.intern(""), kEmptyString);
  EXPECT_EQ(strings[kEmptyString], "");
  EXPECT_EQ(strings.size(), 1u);
}

TEST(InternedStrings, ids_follow_the_order_of_first_sight) {
  InternedStrings strings;
  EXPECT_EQ(strings.intern("a"), 1u);
  EXPECT_EQ(strings.intern("b"), 2u);
  EXPECT_EQ(strings.intern("a"), 1u);
}

TEST(InternedStrings, agrees_with_a_map_on_random_text_of_every_length) {
  std::mt19937 random(7);
  InternedStrings strings;
  std::map<std::string, StringId> oracle{{"", kEmptyString}};
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 70, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    const StringId id = strings.intern(text);
    const auto [known, is_new] = oracle.emplace(text, id);
    EXPECT_EQ(known->second, id) << text;
  }
  EXPECT_EQ(strings.size(), oracle.size());
  for (const auto& [text, id] : oracle) EXPECT_EQ(strings[id], text);
}

TEST(InternedStrings, still_finds_its_strings_after_shrinking) {
  InternedStrings strings;
  const StringId id = strings.intern("kernel");
  strings.shrink();
  EXPECT_EQ(strings.intern("kernel"), id);
}

TEST(InternedStrings, keeps_text_longer_than_a_block) {
  InternedStrings strings;
  const std::string longer(1 << 20, 'x');
  EXPECT_EQ(strings[strings.intern(longer)], longer);
}

}  // namespace
}  // namespace telltale
