#include "report/whatif_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace telltale {
namespace {

TEST(WhatIfJson, has_the_members_that_the_documentation_lists) {
  WhatIf answer;
  answer.path = "train.json.gz";
  answer.timing.source = StepSource::kOptimizer;
  answer.timing.steps.resize(3);
  answer.recorded = 90;
  answer.before = {80, 20, 78};
  answer.after = {60, 58, 30};
  answer.has_device = true;
  answer.changes = {{{{Kind::kPython, "f"}, 0}, {{{}, "gemm"}, 0.25}}, true, true, true, true};
  answer.reach = {{3, 6}, {0, 9}};
  answer.waits = {12, 0};
  answer.data = {1, 0};
  answer.graph = {0, 15};
  EXPECT_EQ(to_json(answer), R"({
  "schema": "telltale.whatif/1",
  "path": "train.json.gz",
  "step": {"count":3,"recorded_ns":90,"source":"optimizer"},
  "changes": [
    {"change":"remove","pattern":"python:f","factor":0.0,"calls":3,"device_work":6},
    {"change":"scale","pattern":"gemm","factor":0.25,"calls":0,"device_work":9},
    {"change":"no_sync","pattern":null,"factor":null,"calls":12,"device_work":0},
    {"change":"instant_data","pattern":null,"factor":null,"calls":1,"device_work":0},
    {"change":"graph","pattern":null,"factor":null,"calls":0,"device_work":15},
    {"change":"no_observer","pattern":null,"factor":null,"calls":0,"device_work":0}
  ],
  "before": {"step_ns":80,"device_busy_ns":20,"host_busy_ns":78,"bottleneck":"host"},
  "after": {"step_ns":60,"device_busy_ns":58,"host_busy_ns":30,"bottleneck":"device"},
  "saving": {"ns":20,"percent":25.0}
}
)");
}

TEST(WhatIfJson, has_null_for_the_device_of_a_trace_without_one) {
  WhatIf answer;
  answer.after = {60, 0, 30};
  const nlohmann::json parsed = nlohmann::json::parse(to_json(answer));
  EXPECT_TRUE(parsed["after"]["device_busy_ns"].is_null());
  EXPECT_EQ(parsed["after"]["bottleneck"], "neither");
  EXPECT_EQ(parsed["changes"], nlohmann::json::array());
}

}  // namespace
}  // namespace telltale
