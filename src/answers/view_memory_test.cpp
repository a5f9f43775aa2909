#include "answers/view_memory.h"

#include <gtest/gtest.h>

#include <chrono>
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
  EXPECT_EQ(page["at"]["time_ns"], 20);
  EXPECT_EQ(page["at"]["allocated_bytes"], 30);
  EXPECT_TRUE(page["at"]["reserved_bytes"].is_null());
  EXPECT_EQ(page["at"]["operators"][0]["name"], "aten::empty");
  EXPECT_EQ(page["at"]["operators"][0]["blocks"], 2);
}

TEST(ViewMemory, is_the_same_again_once_it_was_given_up) {
  const std::shared_ptr<const View> view = view_of(memory_trace());
  const auto soon = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_FALSE(forget_unused_since(*view, soon)) << "nobody has asked";
  const json page = asked(*view, {});
  EXPECT_FALSE(forget_unused_since(*view, soon - std::chrono::hours(2)));
  EXPECT_TRUE(forget_unused_since(*view, soon));
  EXPECT_FALSE(forget_unused_since(*view, soon));
  EXPECT_EQ(asked(*view, {}), page);
}

TEST(ViewMemory, stacks_categories_that_add_up_to_what_is_allocated) {
  const json page = asked(*view_of(memory_trace()), {});
  for (std::size_t i = 0; i < page["time_ns"].size(); ++i) {
    std::int64_t sum = 0;
    for (const json& layer : page["layers"]) sum += layer["bytes"][i].get<std::int64_t>();
    EXPECT_EQ(sum, page["allocated_bytes"][i]);
  }
}

TEST(ViewMemory, names_the_largest_tensors_at_each_time_once) {
  const json page = asked(*view_of(memory_trace()), {});
  ASSERT_EQ(page["tensors"].size(), 2u);
  std::vector<std::vector<int>> bytes;
  for (const json& standing : page["largest"]) {
    bytes.emplace_back();
    for (const json& place : standing) bytes.back().push_back(page["tensors"][place.get<std::size_t>()]["bytes"]);
  }
  EXPECT_EQ(bytes, (std::vector<std::vector<int>>{{10}, {20, 10}, {10}}));
  EXPECT_EQ(page["tensors"][0]["maker"], "aten::empty");
}

TEST(ViewMemory, can_be_asked_for_any_device_and_time) {
  const std::shared_ptr<const View> view = view_of(memory_trace());
  EXPECT_EQ(asked(*view, {.at = 35})["at"]["allocated_bytes"], 10);
  EXPECT_EQ(asked(*view, {.device = kHost})["at"]["allocated_bytes"], 1000);
  EXPECT_EQ(asked(*view, {.device = 1, .at = -5})["at"]["allocated_bytes"], 0);
}

TEST(ViewMemory, of_a_range_begins_with_what_is_there_by_then) {
  const std::shared_ptr<const View> view = view_of(memory_trace());
  const json page = asked(*view, {.start = 15, .end = 25});
  EXPECT_EQ(page["time_ns"], json({15, 20}));
  EXPECT_EQ(page["allocated_bytes"], json({10, 30}));
  EXPECT_EQ(asked(*view, {.start = 0, .end = 5})["time_ns"], json::array());
  EXPECT_EQ(asked(*view, {.start = 100, .end = 200})["allocated_bytes"], json({10}));
  EXPECT_EQ(asked(*view, {.start = INT64_MIN, .end = INT64_MAX})["time_ns"], json({10, 20, 30}));
}

TEST(ViewMemory, says_in_a_sentence_what_makes_no_sense) {
  const std::shared_ptr<const View> view = view_of(memory_trace());
  EXPECT_EQ(asked(*view, {.device = 7}), "the trace has no memory of device 7");
  EXPECT_EQ(asked(*view, {.points = 3}), "points must be from 4 to 20,000, not 3");
  EXPECT_EQ(asked(*view, {.start = 3}), "start and end go together");
  EXPECT_EQ(asked(*view, {.start = 3, .end = 3}), "start must be before end");
}

TEST(ViewMemory, of_a_trace_without_any_has_no_devices) {
  const json page = asked(*view_of(TraceSketch().build()), {});
  EXPECT_TRUE(page["devices"].empty());
  EXPECT_TRUE(page["time_ns"].empty());
  EXPECT_TRUE(page["layers"].empty());
}

}  // namespace
}  // namespace telltale::answers
