#include "words/suggestion.h"

#include <gtest/gtest.h>

namespace telltale {
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

}  // namespace
}  // namespace telltale
