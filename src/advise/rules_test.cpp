#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "advise/rule.h"

namespace telltale {
namespace {

bool is_snake_case(std::string_view text) {
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, is_allowed) && text.front() >= 'a' && text.front() <= 'z' &&
         text.back() != '_' && text.find("__") == std::string_view::npos;
}

bool is_sentence(std::string_view text) {
  return text.size() > 5 && text.ends_with('.') && text.find("  ") == std::string_view::npos &&
         text.find('\n') == std::string_view::npos;
}

TEST(Rules, have_ids_of_their_own_in_snake_case) {
  std::set<std::string_view> ids;
  for (const Rule& rule : all_rules()) {
    EXPECT_TRUE(is_snake_case(rule.info.id)) << rule.info.id;
    EXPECT_TRUE(ids.insert(rule.info.id).second) << rule.info.id << " is there twice";
  }
  EXPECT_FALSE(ids.empty());
}

TEST(Rules, say_what_they_are_about_what_they_need_and_what_they_compute) {
  for (const Rule& rule : all_rules()) {
    const RuleInfo& info = rule.info;
    EXPECT_FALSE(info.title.empty()) << info.id;
    EXPECT_LE(info.title.size(), 60) << info.id;
    EXPECT_FALSE(info.title.ends_with('.')) << info.id;
    EXPECT_TRUE(is_sentence(info.looks_for)) << info.id;
    EXPECT_TRUE(is_sentence(info.needs)) << info.id;
    EXPECT_TRUE(is_sentence(info.saving)) << info.id;
    EXPECT_TRUE(is_sentence(info.held)) << info.id;
    EXPECT_NE(rule.find, nullptr) << info.id;
  }
}

// The first clause of a rule's needs says what it cannot do without; what follows only helps.
TEST(Rules, say_in_words_what_they_cannot_do_without) {
  constexpr std::pair<Need, std::string_view> kWords[] = {
      {Need::kDevice, "CUDA"},   {Need::kDevice, "GPU"},
      {Need::kShapes, "hapes"},  {Need::kStacks, "tacks"},
      {Need::kMemory, "emory"},  {Need::kModules, "odules"},
      {Need::kSteps, "or more"}, {Need::kCollections, "marks collections"},
      {Need::kGauges, "gauges"},
  };
  for (const RuleInfo& info : rule_infos()) {
    const std::string_view first = std::string_view(info.needs).substr(0, info.needs.find_first_of(";."));
    std::set<Need> said, flagged;
    for (const auto& [need, word] : kWords)
      if (first.contains(word)) said.insert(need);
    for (const Alternatives& any : info.cannot_do_without) flagged.insert(any.begin(), any.end());
    EXPECT_EQ(said, flagged) << info.id << ": " << info.needs;
  }
}

TEST(Rules, are_described_in_the_order_in_which_they_are_asked) {
  ASSERT_EQ(rule_infos().size(), all_rules().size());
  for (std::size_t i = 0; i < all_rules().size(); ++i) EXPECT_EQ(rule_infos()[i].id, all_rules()[i].info.id);
}

TEST(Rules, titles_are_different) {
  std::set<std::string_view> titles;
  for (const RuleInfo& info : rule_infos()) EXPECT_TRUE(titles.insert(info.title).second) << info.title;
}

}  // namespace
}  // namespace telltale
