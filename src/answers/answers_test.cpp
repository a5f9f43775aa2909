// What requests get that ask for nothing special, and that all views tell of the same struct.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "advise/memory_rule.h"
#include "analysis/testing/trace_sketch.h"
#include "answers/analyze.h"
#include "answers/chosen_steps.h"
#include "answers/convert.h"
#include "answers/explain.h"
#include "answers/info.h"
#include "answers/top.h"
#include "answers/what_if.h"
#include "report/json.h"
#include "trace/own_recordings.h"

namespace telltale::answers {
namespace {

constexpr int kNames = 30;
constexpr TextStyle kStyle{120, false};

// Six steps with the numbers 0 to 5, each a call of thirty operators; the first two take three times as long.
Trace recorded_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  Nanoseconds time = 0;
  for (int step = 0; step < 6; ++step) {
    const Nanoseconds length = step < 2 ? 3'000'000 : 1'000'000;
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), time, time + length);
    for (int i = 0; i < kNames; ++i) {
      const Nanoseconds start = time + i * (length / kNames);
      sketch.op(thread, fmt::format("op_{:02}", i), start, start + length / kNames);
    }
    time += length;
  }
  return sketch.build();
}

Source source_of(Trace trace) {
  Source source;
  source.path = "train.tell";
  source.trace = std::make_shared<const Trace>(std::move(trace));
  return source;
}

Trace from_start(Trace trace) {
  trace.metadata.emplace_back(kFromStart, "\"true\"");
  return trace;
}

std::ptrdiff_t lines_with(const std::string& text, std::string_view part) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Steps of 1 ms; the recorder pauses for four of 2 ms between the third and the fourth.
Trace paused_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  Nanoseconds time = 0;
  for (int step = 0; step < 6; ++step) {
    for (int paused = 0; step == 3 && paused < 4; ++paused, time += 2'000'000)
      sketch.event(thread, Kind::kAnnotation, "UnrecordedStep", time, time + 2'000'000);
    sketch.event(thread, Kind::kAnnotation, fmt::format("ProfilerStep#{}", step), time, time + 1'000'000);
    sketch.op(thread, "op", time, time + 1'000'000);
    time += 1'000'000;
  }
  return sketch.build();
}

TEST(Analyze, takes_steps_around_a_pause_as_following_each_other_and_says_so) {
  const auto answer = analyze({.source = source_of(paused_trace())});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->diagnosis.timing.steps.size(), 6u);
  EXPECT_EQ(answer->diagnosis.recorded_ns, 1'000'000);
  // The first step of a pause does not count.
  EXPECT_EQ(answer->diagnosis.unobserved_ns, 2'000'000);
  EXPECT_EQ(answer->diagnosis.unrecorded_steps, 3);
  EXPECT_EQ(lines_with(answer->terminal(kStyle), "The recorder left 4 of 10 steps out, so that recording costs little"),
            1);
}

TEST(WhatIf, takes_steps_around_a_pause_as_following_each_other) {
  const auto answer = what_if({.source = source_of(paused_trace()), .no_observer = true});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->what_if.before.period, 1'000'000);
  EXPECT_EQ(answer->what_if.after.period, 2'000'000);
}

TEST(Top, shows_twenty_rows_on_a_screen_and_all_elsewhere) {
  const auto answer = top({.source = source_of(recorded_trace()), .by = "operator"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->averages.rows.size(), std::size_t{kNames});
  EXPECT_EQ(lines_with(answer->terminal(kStyle), "op_"), 20);
  EXPECT_EQ(lines_with(answer->json(), "\"op_"), kNames);
  EXPECT_EQ(lines_with(answer->csv(), "op_"), kNames);
}

TEST(Top, shows_as_many_rows_as_were_asked_for) {
  const auto three = top({.source = source_of(recorded_trace()), .by = "operator", .limit = 3});
  ASSERT_TRUE(three);
  EXPECT_EQ(three->all_rows, std::size_t{kNames});
  EXPECT_EQ(lines_with(three->terminal(kStyle), "op_"), 3);
  EXPECT_EQ(lines_with(three->json(), "\"op_"), 3);
  const auto all = top({.source = source_of(recorded_trace()), .by = "operator", .limit = 0});
  ASSERT_TRUE(all);
  EXPECT_EQ(lines_with(all->terminal(kStyle), "op_"), kNames);
  EXPECT_EQ(lines_with(all->json(), "\"op_"), kNames);
}

TEST(Top, takes_rows_by_word_or_by_kind) {
  const auto word = top({.source = source_of(recorded_trace()), .by = "annotation"});
  const auto kind = top({.source = source_of(recorded_trace()), .kinds = std::vector<std::string>{"annotation"}});
  ASSERT_TRUE(word);
  ASSERT_TRUE(kind);
  EXPECT_EQ(word->json(), kind->json());
  EXPECT_EQ(word->json(), to_json(word->averages));
}

TEST(Analyze, leaves_out_steps_that_warm_up_and_says_so) {
  const auto answer = analyze({.source = source_of(from_start(recorded_trace()))});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->diagnosis.recorded_ns, 1'000'000);
  const std::string sentence = "The first 2 steps warm up and are left out";
  for (const std::string& view : {answer->terminal(kStyle), answer->json(), answer->markdown(), answer->html()})
    EXPECT_NE(view.find(sentence), std::string::npos) << view.substr(0, 500);
}

TEST(Analyze, says_the_same_as_if_the_steady_steps_had_been_chosen) {
  const auto by_itself = analyze({.source = source_of(from_start(recorded_trace()))});
  auto chosen = analyze({.source = source_of(from_start(recorded_trace())), .steps = "2.."});
  ASSERT_TRUE(by_itself);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(chosen->diagnosis.remarks.empty());
  chosen->diagnosis.remarks = by_itself->diagnosis.remarks;
  EXPECT_EQ(chosen->json(), by_itself->json());
}

// Steps of 3 ms, 3 ms and four times 1 ms.
TEST(Analyze, leaves_out_steps_unlike_the_others_and_says_so_in_every_view) {
  const auto answer = analyze({.source = source_of(recorded_trace())});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->diagnosis.recorded_ns, 1'000'000);
  const std::string sentence = "Steps 0 and 1 take 3.00 ms and 3.00 ms where others take 1.00 ms, and are left out";
  for (const std::string& view : {answer->terminal({200, false}), answer->json(), answer->markdown(), answer->html()})
    EXPECT_NE(view.find(sentence), std::string::npos) << view.substr(0, 500);
}

TEST(Analyze, takes_all_steps_that_are_asked_for) {
  const auto all = analyze({.source = source_of(recorded_trace()), .steps = "0.."});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->diagnosis.remarks.empty());
  EXPECT_EQ(all->diagnosis.recorded_ns, 10'000'000 / 6);
}

TEST(Analyze, names_the_file_and_tells_what_it_does) {
  std::vector<std::string> told;
  Source source = source_of(recorded_trace());
  source.progress = [&](std::string_view doing, std::optional<double>) { told.emplace_back(doing); };
  const auto answer = analyze({.source = source});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->diagnosis.path, "train.tell");
  EXPECT_EQ(told, std::vector<std::string>{"Analyzing"});
}

TEST(WhatIf, replays_the_steps_of_analyze) {
  const auto answer = what_if({.source = source_of(from_start(recorded_trace())), .remove = {"op_00"}});
  const auto diagnosis = analyze({.source = source_of(from_start(recorded_trace()))});
  ASSERT_TRUE(answer);
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(answer->what_if.recorded, diagnosis->diagnosis.recorded_ns);
  EXPECT_NE(answer->terminal({200, false}).find("Note: " + answer->remark), std::string::npos);
  EXPECT_EQ(answer->json(), to_json(answer->what_if));
}

TEST(WhatIf, takes_removals_before_scalings) {
  const auto answer =
      what_if({.source = source_of(recorded_trace()), .remove = {"op_00", "op_01"}, .scale = {"op_02=0.5"}});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->what_if.changes.patterns.size(), 3U);
  EXPECT_EQ(answer->what_if.changes.patterns[1].factor, 0);
  EXPECT_EQ(answer->what_if.changes.patterns[2].factor, 0.5);
}

TEST(Info, has_no_size_of_what_is_no_file) {
  const auto answer = info({source_of(recorded_trace())});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->info.path, "train.tell");
  EXPECT_FALSE(answer->info.bytes);
  EXPECT_EQ(answer->json(), to_json(answer->info));
}

TEST(Explain, tells_of_one_rule_or_of_all) {
  const auto one = explain({"host_sync"});
  const auto all = explain({"all"});
  ASSERT_TRUE(one);
  ASSERT_TRUE(all);
  EXPECT_EQ(one->rules.size(), 1U);
  EXPECT_EQ(all->rules.size(), rule_infos().size() + memory_rule_infos().size());
  EXPECT_NE(all->terminal(kStyle).find(one->terminal(kStyle)), std::string::npos);
}

TEST(Convert, keeps_where_a_recording_began_so_that_the_diagnosis_stays_the_same) {
  const std::filesystem::path folder = testing::TempDir();
  const auto expected = analyze({.source = source_of(from_start(recorded_trace()))});
  ASSERT_TRUE(expected);
  for (const char* name : {"answers_test.json", "answers_test.tell"}) {
    const std::string file = folder / name;
    const auto converted =
        convert({.source = source_of(from_start(recorded_trace())), .output = file, .overwrite = true});
    ASSERT_TRUE(converted) << to_string(converted.error());
    const auto again = analyze({.source = {file, {}, {}, {}}});
    std::filesystem::remove(file);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(again->diagnosis.recorded_ns, expected->diagnosis.recorded_ns) << name;
    EXPECT_EQ(again->diagnosis.remarks, expected->diagnosis.remarks) << name;
  }
}

TEST(Convert, takes_steps_as_they_are_and_says_what_it_left_out) {
  const std::string file = std::filesystem::path(testing::TempDir()) / "answers_test.folded";
  Trace trace = recorded_trace();
  const auto converted =
      convert({.source = source_of(std::move(trace)), .output = file, .steps = "2", .overwrite = true});
  std::filesystem::remove(file);
  ASSERT_TRUE(converted) << to_string(converted.error());
  ConvertAnswer answer;
  EXPECT_EQ(answer.terminal(), "");
  answer.left_out.add(0, "flow", "flows", "there is no place for them");
  answer.left_out.add(1, "flow", "flows", "there is no place for them");
  answer.left_out.add(2, "value", "values", "they are too long");
  EXPECT_EQ(answer.terminal(),
            "left out: 1 flow: there is no place for them\n"
            "left out: 2 values: they are too long\n");
}

}  // namespace
}  // namespace telltale::answers
