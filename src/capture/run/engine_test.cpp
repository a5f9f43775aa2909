#include "capture/run/engine.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

const fs::path kFile = "/runs/.night.recording/night";
const fs::path kPython = "/opt/python";

TEST(ChosenEngine, is_ours_unless_pytorchs_is_asked_for) {
  EXPECT_EQ(chosen_engine(Engine::kAuto, kPython, false).engine, Engine::kTelltale);
  EXPECT_EQ(chosen_engine(Engine::kTelltale, kPython, false).engine, Engine::kTelltale);
  EXPECT_EQ(chosen_engine(Engine::kKineto, kPython, false).engine, Engine::kKineto);
  EXPECT_EQ(chosen_engine(Engine::kAuto, kPython, false).why_not_telltale, "");
}

TEST(ChosenEngine, is_pytorchs_where_our_package_is_missing_and_says_so) {
  const EngineChoice choice = chosen_engine(Engine::kAuto, std::nullopt, false);
  EXPECT_EQ(choice.engine, Engine::kKineto);
  EXPECT_NE(choice.why_not_telltale, "");
  EXPECT_EQ(chosen_engine(Engine::kKineto, std::nullopt, false).why_not_telltale, "");
}

TEST(ChosenEngine, is_ours_by_name_for_native_programs_without_the_package) {
  const EngineChoice choice = chosen_engine(Engine::kTelltale, std::nullopt, true);
  EXPECT_EQ(choice.engine, Engine::kTelltale);
  EXPECT_TRUE(choice.python.empty());
  EXPECT_NE(choice.why_not_telltale, "");
  EXPECT_EQ(chosen_engine(Engine::kTelltale, std::nullopt, false).engine, Engine::kKineto);
  EXPECT_EQ(chosen_engine(Engine::kAuto, std::nullopt, true).engine, Engine::kKineto);
}

TEST(ChosenEngine, steps_are_a_schedule) {
  RecordOptions options;
  options.steps = 5;
  options.with_shapes = true;
  options.with_every_call = true;
  const auto text = attachment_text(attachment_for(options, kFile, {Engine::kTelltale, kPython, ""}, "/tmp/x"));
  const auto expected = nlohmann::json::parse(R"({
    "engine": "auto", "path": "/runs/.night.recording/night_%p.tell", "package": "/opt/python", "marks": "/tmp/x",
    "schedule": {"skip_first": 0, "wait": 0, "warmup": 0, "active": 7, "repeat": 1},
    "seconds": null, "shapes": true, "stacks": false, "memory": false, "referrers": false, "api": true,
    "memory_limit": null,
    "pauses": true, "native": true, "warmup": 2})");
  EXPECT_EQ(nlohmann::json::parse(text), expected);
  const auto plan = capture_plan(options, "/runs/night.json");
  EXPECT_EQ(plan.steps->skipped, 2 + 7);  // of which seven are measured without it
  EXPECT_EQ(plan.steps->warmup, 1);
  EXPECT_EQ(plan.steps->recorded, 6);  // so that five are whole
  EXPECT_FALSE(plan.duration);
  EXPECT_TRUE(plan.with_shapes);
  options.pauses = false;
  EXPECT_EQ(capture_plan(options, "/runs/night.json").steps->skipped, 2);
}

TEST(ChosenEngine, is_told_to_processes) {
  const auto told = [](Engine wanted) {
    RecordOptions options;
    options.engine = wanted;
    const auto text = attachment_text(attachment_for(options, kFile, chosen_engine(wanted, kPython, false), ""));
    return nlohmann::json::parse(text)["engine"].get<std::string>();
  };
  EXPECT_EQ(told(Engine::kAuto), "auto");
  EXPECT_EQ(told(Engine::kTelltale), "telltale");
  EXPECT_EQ(told(Engine::kKineto), "kineto");
}

TEST(ChosenEngine, a_schedule_is_taken_as_it_is) {
  RecordOptions options;
  options.schedule = Schedule{.skip_first = 10, .wait = 3, .warmup = 2, .active = 4, .repeat = 6};
  const auto json = nlohmann::json::parse(attachment_text(attachment_for(options, kFile, {}, "")));
  EXPECT_EQ(json["schedule"].dump(), R"({"active":4,"repeat":6,"skip_first":10,"wait":3,"warmup":2})");
  EXPECT_EQ(capture_plan(options, "").steps->skipped, 15);
}

TEST(ChosenEngine, seconds_are_no_steps) {
  RecordOptions options;
  options.seconds = 1.5;
  EXPECT_FALSE(capture_plan(options, "").steps);
  EXPECT_EQ(capture_plan(options, "").duration, std::chrono::milliseconds(1500));
  EXPECT_EQ(nlohmann::json::parse(attachment_text(attachment_for(options, kFile, {}, "")))["seconds"], 1.5);
}

TEST(ChosenEngine, without_a_word_pytorchs_profiler_records_steps_or_else_time) {
  const auto plan = capture_plan({}, "");
  EXPECT_TRUE(plan.steps && plan.duration);
}

TEST(ChosenEngine, pytorchs_profiler_writes_where_our_adapter_does_if_it_can) {
  EXPECT_EQ(kineto_log_file(kFile, "/tmp/x"), "/runs/.night.recording/night.json");
  EXPECT_EQ(kineto_log_file("/a=b/night", "/tmp/x"), "/tmp/x/trace.json");
}

}  // namespace
}  // namespace telltale::capture
