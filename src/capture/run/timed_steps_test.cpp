#include "capture/run/timed_steps.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "capture/run/attachment.h"

namespace telltale::capture {
namespace {

std::string after_adding(const std::string& text, const std::string& steps) {
  const WorkFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
  std::ofstream(path) << text;
  add_timed_steps(path, steps);
  std::ifstream file(path);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TimedSteps, come_first_in_a_trace) {
  EXPECT_EQ(after_adding("{\n  \"schemaVersion\": 1, \"traceEvents\": [\n", R"({"took_ns":[5]})"),
            "{\n  \"timed_steps\": {\"took_ns\":[5]},\n  \"schemaVersion\": 1, \"traceEvents\": [\n");
}

TEST(TimedSteps, change_nothing_that_is_no_trace_and_with_what_is_no_json) {
  for (const std::string text : {"", "[]", "{}", "{", "not JSON"}) EXPECT_EQ(after_adding(text, "{}"), text);
  for (const std::string steps : {"", "{\"took", "1,"}) EXPECT_EQ(after_adding("{\"a\":1}", steps), "{\"a\":1}");
}

}  // namespace
}  // namespace telltale::capture
