#include "answers/view_colors.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace telltale::answers {
namespace {

TEST(ViewColors, everything_that_is_drawn_has_its_entry) {
  EXPECT_EQ(view_colors().size(),
            static_cast<std::size_t>(kKindCount + kWorkClassCount + kHostWorkCount) + kMemoryUseCount);
  EXPECT_EQ(view_colors()[color_index(Kind::kOperator)].word, "operator");
  EXPECT_EQ(view_colors()[color_index(Kind::kPython)].word, "Python");
  EXPECT_EQ(view_colors()[color_index(WorkClass::kMatmul)].word, "matmul");
  EXPECT_EQ(view_colors()[color_index(HostWork::kDataLoading)].word, "idle: data loading");
  EXPECT_EQ(view_colors()[color_index(MemoryUse::kOther)].word, view_colors().back().word);
}

TEST(ViewColors, colors_are_those_of_the_report) {
  EXPECT_EQ(view_colors()[color_index(WorkClass::kMatmul)].light, "#1f5fae");
  EXPECT_EQ(view_colors()[color_index(WorkClass::kMatmul)].dark, "#5787c2");  // a quarter of the way to white
  EXPECT_EQ(view_colors()[color_index(HostWork::kLaunching)].dark, "#f09a2a");
}

TEST(ViewColors, words_tell_all_apart_and_colors_are_what_css_reads) {
  std::set<std::string> words;
  for (const ViewColor& color : view_colors()) {
    EXPECT_TRUE(words.insert(color.word).second) << color.word;
    for (const std::string& text : {color.light, color.dark})
      EXPECT_TRUE(std::regex_match(text, std::regex("#[0-9a-f]{6}"))) << text;
  }
}

}  // namespace
}  // namespace telltale::answers
