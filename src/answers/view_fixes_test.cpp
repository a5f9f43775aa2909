#include "answers/view_fixes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/testing/program_sketch.h"
#include "answers/testing/view_of.h"
#include "answers/view_overview.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

std::shared_ptr<const View> waiting_view() {
  ProgramSketch program;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    program.kernel("aten::mm", 3 * kMillisecond);
    program.open(Kind::kOperator, "aten::item");
    program.wait();
    program.close();
    program.run(Kind::kPython, "train.py(12): log", 2 * kMillisecond);
  }
  return view_of(program.build());
}

TEST(Fixes, save_what_their_findings_say) {
  const std::shared_ptr<const View> view = waiting_view();
  const json page = json::parse(overview(*view, {})->json());
  const json none = json::parse(fixes(*view, {})->json());
  EXPECT_EQ(none["before_ns"], page["analyze"]["step"]["unobserved_ns"]);
  EXPECT_EQ(none["after_ns"], none["before_ns"]);
  EXPECT_EQ(none["saved_percent"], 0);
  EXPECT_EQ(none["batch"], 1);
  std::size_t tried = 0;
  for (std::size_t i = 0; i < page["findings"].size(); ++i) {
    if (!page["findings"][i]["can_be_tried"].get<bool>()) continue;
    const json with = json::parse(fixes(*view, {{i}})->json());
    const json& saving = page["analyze"]["findings"][i]["saving"];
    EXPECT_EQ(with["before_ns"].get<Nanoseconds>() - with["after_ns"].get<Nanoseconds>(), saving["likely_ns"]);
    EXPECT_NEAR(with["saved_percent"].get<double>(), saving["likely_percent"].get<double>(), 0.001);
    ++tried;
  }
  EXPECT_GT(tried, 0u);
}

// The host then works for 2 ms beside a device that works for 3.
TEST(Fixes, tell_what_holds_the_step_up_afterwards) {
  const std::shared_ptr<const View> view = waiting_view();
  const json page = json::parse(overview(*view, {})->json());
  ASSERT_EQ(page["analyze"]["findings"][0]["rule"], "host_sync");
  EXPECT_EQ(json::parse(fixes(*view, {})->json())["bottleneck"], "neither");
  EXPECT_EQ(json::parse(fixes(*view, {{0}})->json())["bottleneck"], "device");
}

TEST(Fixes, say_why_a_fix_cannot_be_tried) {
  const std::shared_ptr<const View> view = waiting_view();
  const json page = json::parse(overview(*view, {})->json());
  for (std::size_t i = 0; i < page["findings"].size(); ++i) {
    const json& extra = page["findings"][i];
    const std::string why = extra["why_not_tried"];
    EXPECT_EQ(why.empty(), extra["can_be_tried"].get<bool>());
    const auto answer = fixes(*view, {{i}});
    EXPECT_EQ(answer.has_value(), why.empty());
    if (answer) continue;
    EXPECT_EQ(answer.error().message, "the fix of finding " + std::to_string(i) + " cannot be tried. " + why);
  }
}

TEST(Fixes, say_in_a_sentence_what_makes_no_sense) {
  const std::shared_ptr<const View> view = waiting_view();
  const std::size_t count = overview(*view, {})->findings.size();
  EXPECT_EQ(fixes(*view, {{99}}).error().message,
            "there is no finding 99 (the diagnosis has " + std::to_string(count) + " findings)");
  EXPECT_EQ(fixes(*view, {{}, "9"}).error().message, "no step matches steps=9 (the trace has 1 to 6)");
}

}  // namespace
}  // namespace telltale::answers
