#include "report/out_of_memory_words.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

AllocatorEvent refusal(DeviceId device, std::int64_t bytes, std::uint64_t free) {
  AllocatorEvent entry;
  entry.action = AllocatorAction::kOutOfMemory;
  entry.device = device;
  entry.bytes = bytes;
  entry.address = free;
  return entry;
}

TEST(OutOfMemoryText, says_what_was_asked_for_and_what_there_was) {
  Trace trace;
  EXPECT_EQ(out_of_memory_text(trace), "");
  trace.allocator_events.push_back({});
  EXPECT_EQ(out_of_memory_text(trace), "");
  trace.allocator_events.push_back(refusal(0, std::int64_t{2} << 30, std::uint64_t{512} << 20));
  EXPECT_EQ(out_of_memory_text(trace),
            "memory ran out on GPU 0: 2.00 GiB were asked for, and the device had 512 MiB free");
}

TEST(OutOfMemoryText, names_the_line_and_the_operator_that_asked) {
  Trace trace;
  AllocatorEvent entry = refusal(0, std::int64_t{2} << 30, 0);
  entry.call_stack = trace.strings.intern("torch/nn/functional.py(9): linear;/home/me/model.py(12): forward");
  trace.allocator_events.push_back(entry);
  EXPECT_EQ(out_of_memory_text(trace),
            "memory ran out on GPU 0: 2.00 GiB were asked for at model.py:12, and the device had 0 B free");
}

MemoryReport full() {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  MemoryReport report;
  DeviceCauses device;
  device.peak.device = 0;
  device.peak.allocated = 70 * kGiB;
  device.peak.uses = {{.use = MemoryUse::kActivations, .bytes = 45 * kGiB},
                      {.use = MemoryUse::kParameters, .bytes = 12 * kGiB},
                      {.use = MemoryUse::kOptimizerState, .bytes = 8 * kGiB},
                      {.use = MemoryUse::kInputs, .bytes = 5 * kGiB}};
  report.causes.devices.push_back(device);
  for (const std::int64_t bytes : {0, 12, 9, 3}) {
    Finding finding;
    finding.title = "Finding of " + std::to_string(bytes);
    finding.saving_bytes = bytes * kGiB;
    finding.source = SourceLine{"src/train.py", 33, "main"};
    report.findings.push_back(finding);
  }
  return report;
}

TEST(OutOfMemoryDiagnosis, has_three_uses_two_findings_and_whether_a_fix_is_enough) {
  TriedFixes tried{"the first fix", {}};
  tried.what_if.capacity = std::int64_t{80} << 30;
  tried.what_if.low.peak_reserved = tried.what_if.high.peak_reserved = std::int64_t{61} << 30;
  EXPECT_EQ(out_of_memory_diagnosis(full(), tried),
            (std::vector<std::string>{
                "at most, tensors took 70.0 GiB: 45.0 GiB activations kept for backward, 12.0 GiB parameters and 8.00 "
                "GiB optimizer state",
                "1. Finding of 12: saves 12.0 GiB, train.py:33", "2. Finding of 9: saves 9.00 GiB, train.py:33",
                "with the first fix, it gets past that request: 61.0 GiB of 80.0 GiB"}));
  tried.what_if.low.failure = tried.what_if.high.failure = WhatIfFailure{};
  EXPECT_EQ(out_of_memory_diagnosis(full(), tried).back(), "the first fix would not be enough");
  EXPECT_EQ(out_of_memory_diagnosis(full(), std::nullopt).size(), 3);
}

TEST(OutOfMemoryDiagnosis, says_nothing_where_nothing_is_known) {
  EXPECT_TRUE(out_of_memory_diagnosis({}, std::nullopt).empty());
}

TEST(OutOfMemoryText, tells_of_the_last_of_several) {
  Trace trace;
  trace.allocator_events.push_back(refusal(0, std::int64_t{2} << 30, 0));
  trace.allocator_events.push_back(refusal(kHost, std::int64_t{256} << 20, 0));
  EXPECT_EQ(out_of_memory_text(trace), "memory ran out on the host for the last of 2 times: 256 MiB were asked for");
}

TEST(OutOfMemoryText, rests_on_the_programs_own_error_where_there_is_no_log) {
  Trace trace;
  trace.metadata.push_back({"out_of_memory", R"({"where":"host","error":"MemoryError","message":""})"});
  EXPECT_EQ(out_of_memory_text(trace), "memory ran out on the host");
  trace.metadata[0].second = R"({"where":"device","error":"OutOfMemoryError","message":""})";
  EXPECT_EQ(out_of_memory_text(trace), "memory ran out on the GPU");
}

}  // namespace
}  // namespace telltale
