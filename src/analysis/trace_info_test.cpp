#include "analysis/trace_info.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(TraceInfo, counts_what_the_trace_holds) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("thread 1 (main)");
  const TrackId stream = sketch.stream(2, 7);
  sketch.event(main, Kind::kAnnotation, "ProfilerStep#4", 0, 100);
  sketch.op(main, "aten::mm", 10, 20);
  sketch.op(main, "aten::mm", 30, 40);
  sketch.event(stream, Kind::kKernel, "gemm", 50, 160);
  sketch.allocate(main, 15, 512, 2);
  sketch.trace().anomalies.add(Anomaly::kTruncated, 99, "aten::");
  sketch.trace().metadata.emplace_back("device_clock", R"({"samples":8,"drift_ppm":0.5,"residual_ns":300})");
  const TraceInfo info = trace_info(sketch.build());

  EXPECT_EQ(info.events, 4);
  EXPECT_EQ(info.memory_events, 1);
  EXPECT_EQ(info.duration_ns, 160);
  const std::vector<std::pair<Kind, std::uint64_t>> kinds = {
      {Kind::kOperator, 2}, {Kind::kAnnotation, 1}, {Kind::kKernel, 1}};
  EXPECT_EQ(info.kinds, kinds);
  ASSERT_EQ(info.steps.size(), 1);
  EXPECT_EQ(info.steps[0].index, 4);
  EXPECT_EQ(info.steps[0].name, "ProfilerStep#4");
  EXPECT_EQ(info.steps[0].duration_ns, 100);
  ASSERT_EQ(info.tracks.size(), 2);
  EXPECT_EQ(info.tracks[0].events, 3);
  EXPECT_EQ(info.tracks[0].device, std::nullopt);
  EXPECT_EQ(info.tracks[1].device, 2);
  ASSERT_EQ(info.anomalies.size(), 1);
  EXPECT_EQ(info.anomalies[0].anomaly, Anomaly::kTruncated);
  EXPECT_EQ(info.anomalies[0].example.byte_offset, 99);
  ASSERT_TRUE(info.device_clock);
  EXPECT_EQ(info.device_clock->residual_ns, 300);
}

TEST(TraceInfo, takes_what_the_recorder_took_for_itself_for_no_thread) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("thread 1 (main)");
  const TrackId overhead = sketch.thread("CUPTI overhead");
  sketch.op(main, "aten::mm", 10, 20);
  sketch.event(main, Kind::kOverhead, "Lazy Function Loading", 30, 40);
  sketch.event(overhead, Kind::kOverhead, "Buffer Flush", 0, 10);
  const TrackId silent = sketch.thread("thread 2 (idle)");
  const TraceInfo info = trace_info(sketch.build());
  EXPECT_EQ(info.tracks[main].kind, TrackKind::kThread);
  EXPECT_EQ(info.tracks[overhead].kind, TrackKind::kRecording);
  EXPECT_EQ(info.tracks[silent].kind, TrackKind::kThread);
}

// HIP counts 10,000,000 for a major and 100,000 for a minor version.
TEST(TraceInfo, writes_versions_of_hip_with_their_patch) {
  TraceSketch sketch;
  sketch.trace().metadata = {{"hip_runtime_version", "60443483"}, {"hip_driver_version", "\"70253211\""}};
  const std::vector<std::pair<std::string, std::string>> expected = {{"hip_runtime", "6.4.43483"},
                                                                     {"hip_driver", "7.2.53211"}};
  EXPECT_EQ(trace_info(sketch.build()).versions, expected);
}

TEST(TraceInfo, lists_losses_before_repairs_and_both_before_notes) {
  TraceSketch sketch;
  Anomalies& anomalies = sketch.trace().anomalies;
  anomalies.add(Anomaly::kUnreadPhase, 1);
  anomalies.add(Anomaly::kNegativeDuration, 2);
  anomalies.add(Anomaly::kTrailingText, 3);
  const TraceInfo info = trace_info(sketch.build());
  ASSERT_EQ(info.anomalies.size(), 3);
  EXPECT_EQ(info.anomalies[0].anomaly, Anomaly::kTrailingText);
  EXPECT_EQ(info.anomalies[1].anomaly, Anomaly::kNegativeDuration);
  EXPECT_EQ(info.anomalies[2].anomaly, Anomaly::kUnreadPhase);
}

TEST(TraceInfo, writes_versions_as_people_do) {
  TraceSketch sketch;
  sketch.trace().metadata = {{"schemaVersion", "1"},
                             {"cuda_driver_version", "12040"},
                             {"cuda_runtime_version", "13000"},
                             {"cupti_version", "130001"},
                             {"hip_runtime_version", "\"6.2\""}};
  sketch.trace().distributed = Distributed{};
  sketch.trace().distributed->nccl_version = "2.21.5";
  const TraceInfo info = trace_info(sketch.build());

  const std::vector<std::pair<std::string, std::string>> expected = {{"cuda_runtime", "13.0"},
                                                                     {"cuda_driver", "12.4"},
                                                                     {"cupti", "130001"},
                                                                     {"hip_runtime", "6.2"},
                                                                     {"nccl", "2.21.5"}};
  EXPECT_EQ(info.versions, expected);
  EXPECT_EQ(info.tool, "torch.profiler");
}

TEST(TraceInfo, knows_our_own_recorder) {
  TraceSketch sketch;
  sketch.trace().format = "tell";
  sketch.trace().metadata = {{"version", "\"0.1.0\""}};
  const TraceInfo info = trace_info(sketch.build());
  EXPECT_EQ(info.tool, "Telltale's recorder");
  EXPECT_EQ(info.versions, (std::vector<std::pair<std::string, std::string>>{{"telltale", "0.1.0"}}));
}

TEST(TraceInfo, gives_the_time_of_recording_only_when_the_clock_is_a_wall_clock) {
  TraceSketch with_epoch;
  with_epoch.trace().origin_epoch_ns = 1'790'857'026'000'000'000;  // as `date -u -d @1790857026` says
  EXPECT_EQ(trace_info(with_epoch.build()).recorded_at, "2026-10-01T12:17:06Z");
  TraceSketch since_boot;
  since_boot.trace().origin_epoch_ns = 5'000'000'000;
  EXPECT_EQ(trace_info(since_boot.build()).recorded_at, std::nullopt);
}

}  // namespace
}  // namespace telltale
