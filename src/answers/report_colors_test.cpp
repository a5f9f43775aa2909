// The report of `telltale analyze --html` and the page draw the same event in the same color.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "answers/event_place.h"
#include "answers/view.h"
#include "answers/view_colors.h"
#include "answers/view_overview.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t inside = text.find(begin) + begin.size();
  return text.substr(inside, text.find(end, inside) - inside);
}

// Of a light ground: the style sheet has those of a dark one behind.
std::map<std::string, std::string> color_by_class(const std::string& page) {
  static const std::regex kRule(R"re(\.([a-z]\d+) \{ background-color: (#[0-9a-f]{6});)re");
  const std::string sheet = between(page, "<style>", "</style>");
  std::map<std::string, std::string> colors;
  for (std::sregex_iterator rule(sheet.begin(), sheet.end(), kRule), end; rule != end; ++rule)
    colors.emplace((*rule)[1], (*rule)[2]);
  return colors;
}

class DrawnReport {
 public:
  explicit DrawnReport(const std::string& page)
      : colors_(color_by_class(page)), step_(json::parse(between(page, "id=\"timeline-data\">", "</script>"))) {}

  std::vector<json> lanes(std::string_view kind) const {
    std::vector<json> lanes;
    for (const json& lane : step_["lanes"])
      if (lane["kind"] == kind) lanes.push_back(lane["spans"]);
    return lanes;
  }
  std::string color_of(const json& spans, std::size_t span) const {
    return colors_.at(step_["works"][spans[6 * span + 2].get<std::size_t>()]["style"]);
  }

 private:
  std::map<std::string, std::string> colors_;
  json step_;
};

std::string page_color(ColorIndex index) { return view_colors()[index].light; }

TEST(ReportColors, every_event_and_idle_time_has_the_color_that_it_has_on_the_page) {
  for (const char* example : {"mlp_sync.json.gz", "resnet50_train.json.gz", "elementwise_chain.json.gz"}) {
    const auto view = open_view({.path = std::string(TELLTALE_SOURCE_DIR "/examples/traces/") + example}).value();
    const auto analyzed = overview(*view, {}).value().analyzed;
    const StepStrip& strip = analyzed->diagnosis.strip_to_zoom_into;
    const DrawnReport report(analyzed->html());
    std::set<std::string> seen;
    const auto compare = [&](const json& spans, const auto& drawn, auto color_of) {
      ASSERT_EQ(spans.size(), 6 * drawn.size());
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        const std::string expected = page_color(color_of(drawn[i]));
        ASSERT_EQ(report.color_of(spans, i), expected) << example << ": " << view->trace->name(drawn[i].event);
        seen.insert(expected);
      }
    };
    const auto of_event = [&](const auto& span) { return color_of_event(*view, span.event); };
    const auto calls = report.lanes("calls"), streams = report.lanes("stream"), gaps = report.lanes("gaps");
    ASSERT_EQ(calls.size(), strip.calls.size());
    for (std::size_t lane = 0; lane < calls.size(); ++lane) compare(calls[lane], strip.calls[lane].spans, of_event);
    ASSERT_EQ(streams.size(), strip.streams.size());
    for (std::size_t lane = 0; lane < streams.size(); ++lane) {
      ASSERT_EQ(streams[lane].size(), 6 * strip.streams[lane].spans.size());
      for (std::size_t i = 0; i < strip.streams[lane].spans.size(); ++i)
        EXPECT_EQ(report.color_of(streams[lane], i), page_color(color_index(strip.streams[lane].spans[i].work)));
    }
    for (const json& lane : gaps) compare(lane, strip.gaps, [](const auto& gap) { return color_index(gap.work); });
    EXPECT_GE(seen.size(), 5U) << example << " has calls of several kinds";
  }
}

}  // namespace
}  // namespace telltale::answers
