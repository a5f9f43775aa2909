#include "replay/event_pattern.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(MatchesPattern, takes_text_without_wildcards_for_the_whole_name) {
  EXPECT_TRUE(matches_pattern("aten::mm", "aten::mm"));
  EXPECT_FALSE(matches_pattern("aten::mm", "mm"));
  EXPECT_FALSE(matches_pattern("aten::mm", "aten::m"));
  EXPECT_FALSE(matches_pattern("aten::mm", "Aten::mm"));
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_FALSE(matches_pattern("a", ""));
}

TEST(MatchesPattern, lets_stars_stand_for_any_text_and_question_marks_for_one_character) {
  EXPECT_TRUE(matches_pattern("aten::mm", "*mm"));
  EXPECT_TRUE(matches_pattern("aten::mm", "aten::*"));
  EXPECT_TRUE(matches_pattern("aten::", "aten::*"));
  EXPECT_TRUE(matches_pattern("aten::mm", "**"));
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_TRUE(matches_pattern("Linear_3", "Linear_?"));
  EXPECT_FALSE(matches_pattern("Linear_13", "Linear_?"));
  EXPECT_FALSE(matches_pattern("", "?"));
  EXPECT_TRUE(matches_pattern("größe", "gr??e"));
}

// A simple way that tries everything, as oracle.
bool matches_slowly(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*')
    return matches_slowly(name, pattern.substr(1)) || (!name.empty() && matches_slowly(name.substr(1), pattern));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         matches_slowly(name.substr(1), pattern.substr(1));
}

TEST(MatchesPattern, agrees_with_trying_everything) {
  const auto for_all_words = [](const std::string& letters, std::size_t length,
                                const std::function<void(const std::string&)>& visit) {
    std::vector<std::string> words = {""};
    for (std::size_t at = 0; at < words.size(); ++at) {
      visit(std::string(words[at]));
      if (words[at].size() == length) continue;
      for (const char letter : letters) words.push_back(words[at] + letter);
    }
  };
  std::size_t compared = 0;
  for_all_words("ab*?", 5, [&](const std::string& pattern) {
    for_all_words("ab", 5, [&](const std::string& name) {
      ++compared;
      ASSERT_EQ(matches_pattern(name, pattern), matches_slowly(name, pattern)) << name << " by " << pattern;
    });
  });
  EXPECT_EQ(compared, (1U + 4 + 16 + 64 + 256 + 1024) * (1 + 2 + 4 + 8 + 16 + 32));
}

TEST(EventsMatching, are_those_of_the_kind_that_belong_to_a_step) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  const auto launch_before = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 0, 5);
  const auto call_before = sketch.op(thread, "gemm", 6, 9);
  sketch.event(thread, Kind::kAnnotation, "ProfilerStep#1", 10, 100);
  const auto call = sketch.op(thread, "gemm", 20, 30);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 22, 25);
  sketch.work(stream, Kind::kKernel, "gemm", 20, 40, launch_before);
  const auto late_kernel = sketch.work(stream, Kind::kKernel, "gemm", 150, 160, launch);
  sketch.event(stream, Kind::kDeviceAnnotation, "gemm", 150, 160);
  const Trace trace = sketch.build();
  const StepTiming timing = step_timing(trace);

  EXPECT_EQ(events_matching(trace, timing, {{}, "gemm"}),
            (std::vector<EventId>{sketch.id(call), sketch.id(late_kernel)}));
  EXPECT_EQ(events_matching(trace, timing, {Kind::kKernel, "g*"}), std::vector<EventId>{sketch.id(late_kernel)});
  EXPECT_EQ(events_matching(trace, timing, {Kind::kPython, "gemm"}), std::vector<EventId>{});
  EXPECT_FALSE(is_in_steps(trace, timing, sketch.id(call_before)));
}

}  // namespace
}  // namespace telltale
