// That the page says what the report says, of the steps that it was asked for, and works each diagnosis out once.
#include "answers/view_overview.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "analysis/testing/program_sketch.h"
#include "answers/analyze.h"
#include "answers/testing/view_of.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

// Six steps in which the host waits for a kernel and then works on.
Trace waiting_trace() {
  ProgramSketch program;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    program.open(Kind::kOperator, "aten::item");
    program.kernel("aten::mm", 3 * kMillisecond);
    program.wait();
    program.close();
    program.run(Kind::kPython, "train.py(12): log", 2 * kMillisecond);
  }
  return program.build();
}

// Steps of 1 ms; the recorder pauses for four of 2 ms between the third and the fourth.
Trace paused_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  Nanoseconds time = 0;
  for (int step = 0; step < 6; ++step) {
    for (int paused = 0; step == 3 && paused < 4; ++paused, time += 2 * kMillisecond)
      sketch.event(thread, Kind::kAnnotation, "UnrecordedStep", time, time + 2 * kMillisecond);
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), time, time + kMillisecond);
    sketch.op(thread, "op", time, time + kMillisecond);
    time += kMillisecond;
  }
  return sketch.build();
}

Source in_folder(Trace trace) { return source_of(std::move(trace), "folder/train.json"); }
std::shared_ptr<const View> viewed(Trace trace) { return open_view(in_folder(std::move(trace))).value(); }

json asked(const View& view, const OverviewRequest& request = {}) {
  return json::parse(overview(view, request).value().json());
}

TEST(Overview, has_exactly_what_analyze_says) {
  for (const StepsText& steps : {StepsText(), StepsText("2..4")}) {
    const json page = asked(*viewed(waiting_trace()), {steps});
    const auto answer = analyze({.source = in_folder(waiting_trace()), .steps = steps});
    EXPECT_EQ(page["analyze"], json::parse(answer->json())) << steps.value_or("");
    ASSERT_FALSE(page["findings"].empty());
    EXPECT_EQ(page["findings"].size(), page["analyze"]["findings"].size());
  }
}

TEST(Overview, says_whether_the_parts_of_a_step_are_a_devices_or_the_hosts) {
  EXPECT_TRUE(asked(*viewed(waiting_trace()))["has_device"]);
  Trace trace = paused_trace();
  trace.devices = {{.id = 0, .name = "NVIDIA H200"}};  // the header names one, and nothing runs there
  const json page = asked(*viewed(std::move(trace)));
  EXPECT_FALSE(page["breakdown"].empty());
  EXPECT_FALSE(page["has_device"]);
}

std::string on_one_line(const std::string& text) {
  std::string line, word;
  for (std::istringstream words(text); words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST(Overview, says_what_the_terminal_says) {
  const json page = asked(*viewed(waiting_trace()));
  const std::string text = on_one_line(analyze({.source = in_folder(waiting_trace())})->terminal({100, false}));
  for (const char* name : {"step", "filling"})
    EXPECT_NE(text.find(page["headline"][name].get<std::string>()), std::string::npos) << text;
  EXPECT_NE(text.find(page["subject"].get<std::string>()), std::string::npos) << text;
  for (const json& finding : page["findings"])
    for (const char* name : {"where", "also", "doubt"})
      EXPECT_NE(text.find(finding[name].get<std::string>()), std::string::npos) << finding;
}

TEST(Overview, shows_the_evidence_of_findings) {
  const std::shared_ptr<const View> view = viewed(waiting_trace());
  const json page = asked(*view);
  for (std::size_t i = 0; i < page["findings"].size(); ++i) {
    const json& places = page["findings"][i]["places"];
    const json& evidence = page["analyze"]["findings"][i]["evidence"];
    ASSERT_EQ(places.size(), evidence.size());
    for (std::size_t j = 0; j < places.size(); ++j) {
      EXPECT_EQ(places[j]["id"], evidence[j]["event"]);
      EXPECT_EQ(places[j]["start_ns"], view->trace->events.start[places[j]["id"].get<EventId>()]);
    }
  }
}

TEST(Overview, divides_the_recorded_step) {
  const json page = asked(*viewed(waiting_trace()));
  Nanoseconds sum = 0;
  for (const json& part : page["breakdown"]) sum += part["ns"].get<Nanoseconds>();
  EXPECT_EQ(sum, page["analyze"]["step"]["mean_ns"].get<Nanoseconds>());
}

TEST(Overview, tells_where_chosen_steps_are) {
  const std::shared_ptr<const View> view = viewed(waiting_trace());
  const json page = asked(*view, {"2..4"});
  EXPECT_EQ(page["chosen"]["steps"], "2..4");
  EXPECT_EQ(page["chosen"]["window_start_ns"], view->trace->steps[1].start);
  EXPECT_EQ(page["chosen"]["window_end_ns"], view->trace->steps[4].start);
}

// Steps 2 to 4 begin at 2 ms and, behind 8 ms without a record, end at 13 ms.
TEST(Overview, counts_pauses_where_it_leads_to_the_timeline) {
  const json page = asked(*viewed(paused_trace()), {"2..4"});
  EXPECT_EQ(page["chosen"]["window_start_ns"], 2 * kMillisecond);
  EXPECT_EQ(page["chosen"]["window_end_ns"], 13 * kMillisecond);
  const json behind = asked(*viewed(paused_trace()), {"3"});
  EXPECT_EQ(behind["chosen"]["window_start_ns"], 11 * kMillisecond);
  EXPECT_EQ(behind["chosen"]["window_end_ns"], 12 * kMillisecond);
  const json before = asked(*viewed(paused_trace()), {"2"});
  EXPECT_EQ(before["chosen"]["window_start_ns"], 2 * kMillisecond);
  EXPECT_EQ(before["chosen"]["window_end_ns"], 3 * kMillisecond);
}

TEST(Overview, diagnoses_once_for_all_who_ask) {
  const std::shared_ptr<const View> view = viewed(waiting_trace());
  std::vector<std::shared_ptr<const AnalyzeAnswer>> got(8);
  {
    std::vector<std::jthread> threads;
    for (auto& each : got) threads.emplace_back([&] { each = overview(*view, {})->analyzed; });
  }
  for (const auto& each : got) EXPECT_EQ(each, got.front());
  EXPECT_EQ(overview(*view, {})->analyzed, got.front());
}

TEST(Overview, says_in_a_sentence_what_makes_no_sense) {
  const std::shared_ptr<const View> view = viewed(waiting_trace());
  EXPECT_EQ(overview(*view, {"7..9"}).error().message, "no step matches steps=7..9 (the trace has 1 to 6)");
  EXPECT_EQ(overview(*view, {"x"}).error().message, "steps=x is not a range of steps; write 5, 3..7, 3.. or ..7");
}

TEST(Overview, answers_about_a_trace_without_events) {
  const json page = asked(*viewed(TraceSketch().build()));
  EXPECT_EQ(page["chosen"]["steps"], "");
  EXPECT_TRUE(page["breakdown"].empty());
  EXPECT_FALSE(page["headline"]["step"].get<std::string>().empty());
}

}  // namespace
}  // namespace telltale::answers
