#include "answers/view_memory.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/testing/trace_sketch.h"
#include "answers/testing/view_of.h"

namespace telltale::answers {
namespace {

using nlohmann::json;

// A device whose memory grows to 30 and falls to 10, another one, and the host.
Trace memory_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.op(thread, "aten::empty", 0, 100);
  sketch.allocate(thread, 10, 10, 0, 1);
  sketch.allocate(thread, 20, 20, 0, 2);
  sketch.allocate(thread, 30, -20, 0, 2);
  sketch.allocate(thread, 40, 5, 1, 3);
  sketch.allocate(thread, 50, 1000, kHost, 4);
  return sketch.build();
}

json asked(const View& view, const ViewMemoryRequest& request) {
  const auto answer = view_memory(view, request);
  return answer ? json::parse(answer->json()) : json(answer.error().message);
}

TEST(ViewMemory, is_about_the_peak_of_the_fullest_device) {
  const json page = asked(*view_of(memory_trace()), {});
  ASSERT_EQ(page["devices"].size(), 3u);
  EXPECT_EQ(page["devices"][0]["peak_allocated_bytes"], 30);
  EXPECT_EQ(page["devices"][2]["id"], -1);
  EXPECT_EQ(page["devices"][2]["name"], "host");
  EXPECT_TRUE(page["devices"][0]["peak_reserved_bytes"].is_null());
  EXPECT_EQ(page["device"], 0);
  EXPECT_EQ(page["time_ns"], json({10, 20, 30}));
  EXPECT_EQ(page["allocated_bytes"], json({10, 30, 10}));
  EXPECT_EQ(page["at_ns"], 20);
  EXPECT_EQ(page["at_bytes"], 30);
  EXPECT_EQ(page["by_operator"][0]["name"], "aten::empty");
  EXPECT_EQ(page["by_operator"][0]["allocations"], 2);
}

TEST(ViewMemory, can_be_asked_for_any_device_and_time) {
  const std::shared_ptr<const View> view = view_of(memory_trace());
  EXPECT_EQ(asked(*view, {.at = 35})["at_bytes"], 10);
  EXPECT_EQ(asked(*view, {.device = kHost})["at_bytes"], 1000);
  EXPECT_EQ(asked(*view, {.device = 1, .at = -5})["at_bytes"], 0);
}

TEST(ViewMemory, says_in_a_sentence_what_makes_no_sense) {
  const std::shared_ptr<const View> view = view_of(memory_trace());
  EXPECT_EQ(asked(*view, {.device = 7}), "the trace has no memory of device 7");
  EXPECT_EQ(asked(*view, {.points = 3}), "points must be from 4 to 20,000, not 3");
}

TEST(ViewMemory, of_a_trace_without_any_has_no_devices) {
  const json page = asked(*view_of(TraceSketch().build()), {});
  EXPECT_TRUE(page["devices"].empty());
  EXPECT_TRUE(page["time_ns"].empty());
  EXPECT_TRUE(page["by_kind"].empty());
}

}  // namespace
}  // namespace telltale::answers
