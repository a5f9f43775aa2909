#include "answers/suggestion.h"

#include <gtest/gtest.h>

namespace telltale::answers {
namespace {

TEST(Suggestion, names_the_nearest_word) {
  EXPECT_EQ(suggestion("tpo", {"info", "top"}), "; did you mean 'top'?");
  EXPECT_EQ(suggestion("inof", {"info", "top"}), "; did you mean 'info'?");
  EXPECT_EQ(suggestion("--limits", {"--limit", "--list"}), "; did you mean '--limit'?");
}

TEST(Suggestion, keeps_silent_when_nothing_is_near) {
  EXPECT_EQ(suggestion("frobnicate", {"info", "top"}), "");
  EXPECT_EQ(suggestion("", {"info"}), "");
  EXPECT_EQ(suggestion("top", {}), "");
}

TEST(Suggestion, lists_all_words_when_nothing_is_near) {
  EXPECT_EQ(no_such_word("command", "frobnicate", {"info", "top", "whatif"}),
            "there is no command 'frobnicate'; choose info, top or whatif");
  EXPECT_EQ(no_such_word("command", "tpo", {"info", "top"}), "there is no command 'tpo'; did you mean 'top'?");
}

}  // namespace
}  // namespace telltale::answers
