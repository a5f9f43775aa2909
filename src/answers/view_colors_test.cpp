#include "answers/view_colors.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace telltale::answers {
namespace {

TEST(ViewColors, everything_that_is_drawn_has_its_entry) {
  EXPECT_EQ(view_colors().size(),
            static_cast<std::size_t>(kKindCount + kWorkClassCount + 8 + kHostWorkCount) + kMemoryUseCount);
  EXPECT_EQ(view_colors()[color_index(Kind::kOperator)].word, "operator");
  EXPECT_EQ(view_colors()[color_index(Kind::kPython)].word, "Python");
  EXPECT_EQ(view_colors()[color_index(WorkClass::kMatmul)].word, "matmul");
  EXPECT_EQ(view_colors()[color_index(HostWork::kDataLoading)].word, "idle: data loading");
  EXPECT_EQ(view_colors()[color_index(MemoryUse::kOther)].word, view_colors().back().word);
}

TEST(ViewColors, a_call_is_of_its_kind_but_where_it_waits_launches_or_holds_up) {
  const auto word = [](Kind kind, HostWork work) { return view_colors()[color_index(kind, work)].word; };
  EXPECT_EQ(word(Kind::kOperator, HostWork::kOperators), "operator");
  EXPECT_EQ(word(Kind::kModule, HostWork::kPython), "module");
  EXPECT_EQ(word(Kind::kAnnotation, HostWork::kScopes), "annotation");
  EXPECT_EQ(word(Kind::kOther, HostWork::kUnknown), "other host work");
  EXPECT_EQ(word(Kind::kRuntime, HostWork::kLaunching), "launching");
  EXPECT_EQ(word(Kind::kRuntime, HostWork::kSync), "sync");
  EXPECT_EQ(word(Kind::kPython, HostWork::kDataLoading), "data loading");
  EXPECT_EQ(word(Kind::kPython, HostWork::kWaiting), "waiting");
}

TEST(ViewColors, what_waits_has_the_color_of_the_idle_time_that_it_causes) {
  for (const HostWork work : {HostWork::kSync, HostWork::kLaunching, HostWork::kAllocator, HostWork::kCommunication}) {
    EXPECT_EQ(view_colors()[color_index(HostDoing{work})].light, view_colors()[color_index(work)].light);
  }
}

TEST(ViewColors, a_part_of_a_step_without_a_device_is_work_and_no_idle_time) {
  EXPECT_EQ(view_colors()[color_index(BreakdownPart{HostWork::kOperators, false, 1, 1})].word, "operator");
  EXPECT_EQ(view_colors()[color_index(BreakdownPart{HostWork::kOperators, true, 1, 1})].word, "idle: operators");
  EXPECT_EQ(view_colors()[color_index(BreakdownPart{WorkClass::kMatmul, false, 1, 1})].word, "matmul");
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
