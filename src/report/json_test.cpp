#include "report/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/testing/sample_diagnosis.h"

namespace telltale {
namespace {

nlohmann::json answer(const SampleDiagnosis& sample) {
  return nlohmann::json::parse(to_json(sample.diagnosis, sample.trace));
}

TEST(AnalyzeJson, has_the_members_of_its_schema) {
  const nlohmann::json json = answer(sample_diagnosis());
  EXPECT_EQ(json["schema"], "telltale.analyze/1");
  for (const char* member : {"trace",   "step",          "steps",  "breakdown", "devices",   "phases",  "modules",
                             "kernels", "findings",      "look",   "remarks",   "queue",     "syncs",   "waits",
                             "copies",  "communication", "memory", "threads",   "latencies", "counters"}) {
    EXPECT_TRUE(json.contains(member)) << member;
  }
}

TEST(AnalyzeJson, describes_trace_and_step) {
  const nlohmann::json json = answer(sample_diagnosis());
  EXPECT_EQ(json["trace"]["path"], "runs/train.json.gz");
  EXPECT_EQ(json["trace"]["events"], 15);
  EXPECT_EQ(json["trace"]["duration_ns"], 174'000'000);
  EXPECT_EQ(json["trace"]["devices"], nlohmann::json::array({"NVIDIA H200"}));
  EXPECT_EQ(json["trace"]["anomalies"],
            nlohmann::json::parse(R"([{"kind":"negative_duration","severity":"repaired","count":1}])"));
  EXPECT_EQ(json["step"], nlohmann::json::parse(R"({"count":3,"mean_ns":58000000,"median_ns":58000000,
      "unobserved_ns":48500000,"unobserved_low_ns":44100000,"unobserved_high_ns":52000000,
      "unobserved_source":"estimated","unrecorded_steps":0,"slowdown_percent":19.588,"observer_percent":16.379,"source":"marks"})"));
  EXPECT_EQ(json["steps"][1]["index"], 5);
  EXPECT_EQ(json["steps"][1]["start_ns"], 58'000'000);
  EXPECT_EQ(json["steps"][1]["duration_ns"], 58'000'000);
}

TEST(AnalyzeJson, breakdown_adds_up_to_the_step_and_tells_what_is_idle) {
  const nlohmann::json json = answer(sample_diagnosis());
  std::int64_t sum = 0;
  for (const auto& row : json["breakdown"]) sum += row["ns"].get<std::int64_t>();
  EXPECT_EQ(sum, json["step"]["mean_ns"]);
  EXPECT_EQ(json["breakdown"][0],
            nlohmann::json::parse(R"({"category":"matmul","ns":17980000,"percent":31.0,"is_idle":false})"));
  ASSERT_EQ(json["breakdown"].size(), 7U);
  EXPECT_EQ(json["breakdown"][5],
            nlohmann::json::parse(R"({"category":"idle_sync","ns":4640000,"percent":8.0,"is_idle":true})"));
}

TEST(AnalyzeJson, without_a_device_nothing_is_idle) {
  const nlohmann::json json = answer(healthy_host_diagnosis());
  EXPECT_EQ(json["breakdown"][0]["category"], "operators");
  for (const auto& part : json["breakdown"]) EXPECT_FALSE(part["is_idle"]);
  EXPECT_TRUE(json["devices"].empty());
  EXPECT_TRUE(json["memory"].is_null());
  EXPECT_TRUE(json["findings"].empty());
}

TEST(AnalyzeJson, a_finding_has_saving_evidence_source_and_fix) {
  const SampleDiagnosis sample = sample_diagnosis();
  const nlohmann::json finding = answer(sample)["findings"][0];
  EXPECT_EQ(finding["rule"], "unfused_attention");
  EXPECT_EQ(finding["saving"], nlohmann::json::parse(R"({"low_ns":9700000,"likely_ns":12125000,"high_ns":13580000,
      "low_percent":20.0,"likely_percent":25.0,"high_percent":28.0})"));
  EXPECT_EQ(finding["confidence"], "high");
  ASSERT_EQ(finding["evidence"].size(), 1U);
  EXPECT_EQ(finding["evidence"][0]["event"], sample.diagnosis.findings[0].evidence[0]);
  EXPECT_EQ(finding["evidence"][0]["name"], kPlainKernel);
  EXPECT_EQ(finding["evidence"][0]["start_ns"], 117'000'000);
  EXPECT_EQ(finding["evidence"][0]["duration_ns"], 20'000'000);
  EXPECT_EQ(finding["source"],
            nlohmann::json::parse(R"({"file":"/home/ada/gpt/models/gpt2.py","line":312,"function":"attend"})"));
  EXPECT_EQ(finding["fix"]["id"], "sdpa");
  EXPECT_EQ(finding["also_explains"], nlohmann::json::array({"rule_without_a_title"}));
}

TEST(AnalyzeJson, what_is_not_known_is_null) {
  const nlohmann::json json = answer(sample_diagnosis());
  EXPECT_TRUE(json["findings"][2]["source"].is_null());
  EXPECT_TRUE(json["kernels"][1]["precision"].is_null());
  EXPECT_TRUE(json["kernels"][1]["roofline_percent"].is_null());
  EXPECT_TRUE(json["modules"][0]["parent"].is_null());
  EXPECT_EQ(json["modules"][1]["parent"], 0);
}

TEST(AnalyzeJson, shares_are_percents) {
  EXPECT_EQ(answer(sample_diagnosis())["queue"],
            nlohmann::json::parse(R"({"mean_depth":2.5,"empty_percent":40.0,"launch_latency_ns":0})"));
}

TEST(AnalyzeJson, sums_waits_up_and_has_what_to_know_of_the_trace) {
  const SampleDiagnosis sample = sample_diagnosis();
  const nlohmann::json json = answer(sample);
  EXPECT_EQ(json["syncs"], nlohmann::json::array({{{"name", "aten::item"},
                                                   {"calls", 0.5},
                                                   {"waited_ns", 4'000'000},
                                                   {"idle_ns", 2'000'000},
                                                   {"example", sample.diagnosis.syncs[0].call}}}));
  EXPECT_EQ(json["remarks"][1], "1 thing in the file was repaired: telltale info shows it.");
}

TEST(AnalyzeJson, has_the_hundred_longest_kernels) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.kernels.rows.resize(250, sample.diagnosis.kernels.rows.back());
  EXPECT_EQ(answer(sample)["kernels"].size(), 100U);
}

TEST(AnalyzeJson, ignores_evidence_that_is_no_event) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.findings[0].evidence.push_back(kNoEvent);
  EXPECT_EQ(answer(sample)["findings"][0]["evidence"].size(), 1U);
}

TEST(AnalyzeJson, repairs_names_that_are_not_utf8) {
  const nlohmann::json json = answer(sample_diagnosis("bad\xff\"name"));
  EXPECT_EQ(json["kernels"][0]["name"], "bad\xEF\xBF\xBD\"name");
}

TEST(AnalyzeJson, describes_threads_requests_and_counters) {
  const nlohmann::json json = answer(server_diagnosis());
  ASSERT_EQ(json["threads"].size(), 3U);
  EXPECT_EQ(json["threads"][0], nlohmann::json::parse(R"({"track":0,"name":"worker 0","busy_ns":760000000,
      "busy_percent":38.0,"scopes":[{"name":"layer","calls":400,"own_ns":720000000,"longest":0},
      {"name":"batch","calls":100,"own_ns":40000000,"longest":0}]})"));
  ASSERT_EQ(json["latencies"].size(), 2U);
  EXPECT_EQ(json["latencies"][0]["waiting"], nlohmann::json::parse(R"({"spans":851,"total_ns":5000000000,
      "waiting_ns":3600000000,"waiting_percent":72.0,"beside_idle_ns":3240000000,"p50_ns":3900000,"p99_ns":5100000,
      "served_in":"batch","threads":[0,1],"busy_percent":34.0})"));
  EXPECT_EQ(json["latencies"][1], nlohmann::json::parse(R"({"name":"batch","is_async":false,"count":251,"unfinished":0,
      "p50_ns":2390000,"p90_ns":4590000,"p99_ns":9680000,"max_ns":12300000,"total_ns":676000000,"longest":0,
      "waiting":null})"));
  EXPECT_EQ(json["counters"][0], nlohmann::json::parse(R"({"name":"queue depth","series":"value","values":1102,
      "mean":1.445,"minimum":0.0,"maximum":8.0,"last":0.0})"));
}

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
  "step": {"count":3,"mean_ns":90,"source":"optimizer"},
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
