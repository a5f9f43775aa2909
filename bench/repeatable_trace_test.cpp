#include "repeatable_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace telltale::bench {
namespace {

// A launch, its kernel, the flow between them and the step around them; times as three eras of Kineto write them.
constexpr std::string_view kSource = R"({
  "schemaVersion": 1,
  "traceEvents": [
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 3, "tid": 4,
    "ts": 1000.250, "dur": 99.900,
    "args": { "External id": 20,"Record function id": 0, "Ev Idx": 0 }
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel \"ts\": 5", "pid": 3, "tid": 4, "ts": 1010, "dur": 2,
    "args": { "External id": 22,      "cbid": 211, "correlation": 100 }
  },
  {"ph": "s", "id": 100, "pid": 3, "tid": 4, "ts": 1010, "cat": "ac2g", "name": "ac2g"},
  {"ph": "s", "id": 1, "pid": 3, "tid": 4, "ts": 1010, "cat": "fwdbwd", "name": "fwdbwd"},
  {
    "ph": "X", "cat": "python_function", "name": "run", "pid": 3, "tid": 4, "ts": 1001.000, "dur": 5.000,
    "args": { "Python parent id": null, "Python id": 1, "Ev Idx": 1, "Addr": 1000, "Sequence number": 0 }
  },
  {"name": "thread_name", "ph": "M", "ts": 1000.250, "pid": 3, "tid": 4, "args": {"name": "main"}},
  {"ph": "X", "cat": "Trace", "ts": 999.000, "dur": 103.000, "pid": "Spans", "tid": "x", "name": "Profiler"},
  {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1102.000}
  ],
  "traceName": "t.json"
})";

std::string text_with(const RepeatableTrace& trace, int copies) {
  std::string text = trace.header;
  for (int copy = 0; copy < copies; ++copy) {
    append_copy(trace.repeated, trace, copy, text);
    text += trace.separator;
  }
  append_copy(trace.once, trace, copies - 1, text);
  return text + trace.footer;
}

TEST(RepeatableTrace, one_copy_has_the_events_of_the_source) {
  const RepeatableTrace trace = repeatable_trace(kSource);
  EXPECT_EQ(nlohmann::json::parse(text_with(trace, 1)), nlohmann::json::parse(kSource));
  EXPECT_EQ(trace.repeated_events, 5u);
  EXPECT_EQ(trace.once_events, 3u);
}

TEST(RepeatableTrace, the_second_copy_follows_the_first_and_shares_no_id_with_it) {
  const auto events = nlohmann::json::parse(text_with(repeatable_trace(kSource), 2))["traceEvents"];
  ASSERT_EQ(events.size(), 13u);
  // From 1000 to 1101: the span of the step with its fractions rounded up.
  const auto& step = events[5];
  EXPECT_EQ(step["name"], "ProfilerStep#8");
  EXPECT_EQ(step["ts"], 1102.250);
  EXPECT_EQ(step["dur"], 99.9);
  EXPECT_EQ(step["args"]["External id"], 23);
  EXPECT_EQ(step["args"]["Record function id"], 0);
  EXPECT_EQ(step["args"]["Ev Idx"], 2);

  const auto& launch = events[6];
  EXPECT_EQ(launch["name"], "cudaLaunchKernel \"ts\": 5");
  EXPECT_EQ(launch["ts"], 1112);
  EXPECT_EQ(launch["args"]["External id"], 25);
  EXPECT_EQ(launch["args"]["correlation"], 101);
  EXPECT_EQ(events[7]["id"], 101);
  EXPECT_EQ(events[8]["id"], 2);

  const auto& python = events[9];
  EXPECT_TRUE(python["args"]["Python parent id"].is_null());
  EXPECT_EQ(python["args"]["Python id"], 2);
  EXPECT_EQ(python["args"]["Addr"], 1000);
  EXPECT_EQ(python["args"]["Sequence number"], 1);
}

TEST(RepeatableTrace, the_recording_ends_after_the_last_copy) {
  const auto events = nlohmann::json::parse(text_with(repeatable_trace(kSource), 2))["traceEvents"];
  EXPECT_EQ(events[10]["ts"], 1000.250);
  EXPECT_EQ(events[11]["dur"], 205.0);
  EXPECT_EQ(events[12]["ts"], 1204.0);
}

}  // namespace
}  // namespace telltale::bench
