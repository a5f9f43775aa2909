#include "formats/tell/captured_nodes.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/tell/testing/read_bytes.h"
#include "formats/tell/testing/tell_sketch.h"
#include "trace/slice.h"

namespace telltale::tell {
namespace {

using testing::read_bytes;
using testing::RecordsSketch;
using testing::rows;
using testing::simple_recording;
using testing::TellSketch;
using testing::varint;
using testing::zigzagged;

using Lines = std::vector<std::string>;

constexpr int kInteger = 0, kName = 4;
constexpr int kOperator = 3, kDriver = 7, kKernel = 8, kOverhead = 13, kOther = 14;

// A thread, track 1, and a stream, track 2, on which kernels are replayed at 9000 and later.
class CapturedNodes : public ::testing::Test {
 protected:
  CapturedNodes() {
    sketch_.thread(1, 100, "main").track(2, 1, 7, "stream 7", 0);
    node_ = sketch_.site("CUDA graph node", {"", "", "", 0, kOther, node_fields()});
    kernel_ = sketch_.site("gemm", {"", "", "", 0, kKernel, {{"graph id", kInteger}, {"graph node id", kInteger}}});
    launch_ = sketch_.site("cuGraphLaunch", {"", "", "", 0, kDriver, {{"correlation", kInteger}}});
    mm_ = sketch_.site("aten::mm", {"", "", "", 0, kOperator, {}});
  }

  static std::vector<testing::FieldSketch> node_fields() {
    return {{"graph id", kInteger}, {"graph node id", kInteger}, {"original node id", kInteger}, {"Call stack", kName}};
  }

  std::string noted(std::int64_t node, std::int64_t original, const std::string& stack = "") {
    return zigzagged(1) + zigzagged(node) + zigzagged(original) + varint(stack.empty() ? 0 : sketch_.string(stack));
  }

  // Two of one graph, of the given nodes.
  void replay(std::int64_t first, std::int64_t second) {
    records_.span(launch_, 8000, 100, zigzagged(77));
    records_.span_on(2, kernel_, 9000, 50, 77, zigzagged(2) + zigzagged(first));
    records_.span_on(2, kernel_, 9100, 50, 77, zigzagged(2) + zigzagged(second));
  }

  Trace trace() {
    auto trace = read_bytes(sketch_.records(records_).end(20'000).bytes());
    EXPECT_TRUE(trace) << (trace ? "" : to_string(trace.error()));
    return trace ? std::move(*trace) : Trace();
  }

  TellSketch sketch_ = simple_recording();
  RecordsSketch records_{1};
  std::uint64_t node_ = 0, kernel_ = 0, launch_ = 0, mm_ = 0;
};

TEST_F(CapturedNodes, lead_replayed_kernels_to_the_operator_that_captured_them) {
  records_.instant(node_, 1050, noted(11, 0)).span(mm_, 1000, 100);
  replay(11, 12);
  const Trace trace = this->trace();
  EXPECT_EQ(rows(trace), (Lines{"operator aten::mm 0+100 on main", "driver cuGraphLaunch 7000+100 on main",
                                "kernel gemm 8000+50 on stream 7", "kernel gemm 8100+50 on stream 7"}));
  ASSERT_EQ(trace.graph_origins.size(), 1u);  // nobody noted the other
  EXPECT_EQ(trace.graph_origins.event(0), 2u);
  EXPECT_EQ(trace.graph_origins.row(0).captured_in, 0u);
  EXPECT_EQ(trace.events.cause[2], 1u);  // the graph's launch, as of every other kernel of it
  EXPECT_EQ(trace.origin_of(2), 0u);
  EXPECT_EQ(trace.origin_of(3), 1u);
}

TEST_F(CapturedNodes, lead_clones_to_what_they_were_cloned_from) {
  const auto instantiate = sketch_.site("cuGraphInstantiate", {"", "", "", 0, kOperator, {}});
  records_.instant(node_, 1050, noted(11, 0)).span(mm_, 1000, 100);
  records_.instant(node_, 2010, noted(21, 11)).instant(node_, 2020, noted(22, 12)).span(instantiate, 2000, 100);
  replay(21, 22);
  const Trace trace = this->trace();
  ASSERT_EQ(trace.graph_origins.size(), 1u);  // where 22 was cloned says nothing of 12
  EXPECT_EQ(trace.name(trace.graph_origins.row(0).captured_in), "aten::mm");
}

TEST_F(CapturedNodes, go_round_in_no_circle) {
  records_.instant(node_, 1010, noted(11, 12)).instant(node_, 1020, noted(12, 11)).span(mm_, 1000, 100);
  replay(11, 12);
  EXPECT_EQ(trace().graph_origins.size(), 0u);
}

TEST_F(CapturedNodes, of_before_the_recording_have_their_stacks_alone) {
  const std::string stack = "train.py(12): step;nn.Module: Net_0;train.py(40): main";
  const auto start = sketch_.site("CUPTI start", {"", "", "", 0, kOverhead, {}});
  records_.instant(node_, 1050, noted(11, 0, stack)).span(start, 1010, 80).span(mm_, 1000, 100);
  sketch_.thread(3, 200, "decoder");
  replay(11, 12);
  sketch_.records(RecordsSketch(3).instant(node_, 1500, noted(12, 0, "other.py(1): f")));
  const Trace trace = this->trace();
  ASSERT_EQ(trace.graph_origins.size(), 2u);
  EXPECT_EQ(trace.graph_origins.row(0).captured_in, kNoEvent);
  EXPECT_EQ(trace.strings[trace.graph_origins.row(0).call_stack], stack);
  EXPECT_EQ(trace.graph_origins.row(1).captured_in, kNoEvent);
  EXPECT_EQ(trace.strings[trace.graph_origins.row(1).call_stack], "other.py(1): f");
  EXPECT_EQ(trace.tracks.size(), 2u);  // a thread that only notes nodes is none
}

TEST_F(CapturedNodes, keep_their_stacks_in_a_part_without_the_capture) {
  records_.instant(node_, 1050, noted(11, 0, "train.py(12): step")).span(mm_, 1000, 100);
  replay(11, 12);
  const Trace whole = trace();
  const Trace part = slice(whole, selection_of(whole, {5000, 20'000}));
  ASSERT_EQ(part.graph_origins.size(), 1u);
  EXPECT_EQ(part.graph_origins.row(0).captured_in, kNoEvent);
  EXPECT_EQ(part.strings[part.graph_origins.row(0).call_stack], "train.py(12): step");
}

TEST_F(CapturedNodes, are_instants_like_others_with_other_fields) {
  auto fields = node_fields();
  fields.push_back({"more", kInteger});
  const auto other = sketch_.site("CUDA graph node", {"", "", "", 0, kOther, fields});
  records_.instant(other, 1000, noted(11, 0) + zigzagged(5));
  replay(11, 12);
  const Trace trace = this->trace();
  EXPECT_EQ(trace.graph_origins.size(), 0u);
  EXPECT_EQ(rows(trace).front(), "instant CUDA graph node 0+0 on main");
}

TEST_F(CapturedNodes, of_compiled_kernels_have_the_lines_that_the_compiler_knows) {
  sketch_.session({{"meta:triton_kernels", R"({"gemm": {"file": "model.py", "line": 7, "function": "forward"}})"}});
  replay(11, 12);
  const Trace trace = this->trace();
  ASSERT_EQ(trace.sources.size(), 2u);  // both kernels, and nothing else
  EXPECT_EQ(trace.sources.event(0), 1u);
  const SourceLocation& place = trace.source_locations[trace.sources.row(0)];
  EXPECT_EQ(trace.strings[place.file], "model.py");
  EXPECT_EQ(trace.strings[place.function], "forward");
  EXPECT_EQ(place.line, 7);
}

// ---- What the recording of a device says of itself ----

TEST_F(CapturedNodes, and_dropped_records_of_the_device_are_lost) {
  sketch_.session({{"meta:cupti_dropped_records", "12"}});
  replay(11, 12);
  const Trace trace = this->trace();
  EXPECT_EQ(trace.anomalies.count(Anomaly::kDroppedDeviceRecords), 12u);
  EXPECT_EQ(severity_of(Anomaly::kDroppedDeviceRecords), Severity::kLost);
}

TEST_F(CapturedNodes, and_what_the_recorder_had_to_leave_out_is_lost) {
  sketch_.session({{"meta:lost_device_records", R"({"unfinished": 2, "unplaced": 3, "graph_nodes": 4})"}});
  replay(11, 12);
  const Trace trace = this->trace();
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedDeviceWork), 2u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnplacedDeviceWork), 3u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnnotedGraphNode), 4u);
  EXPECT_EQ(trace.anomalies.count(Severity::kLost), 9u);
}

// The process recorded CUDA before.
TEST_F(CapturedNodes, and_nothing_is_lost_where_nothing_of_cuda_is_recorded) {
  for (const char* key : {"cupti_dropped_records", "cuda_calls"}) {
    TellSketch sketch = simple_recording();
    sketch.session({{std::string("meta:") + key, "12"}, {"meta:model", "resnet50"}});
    const auto trace = read_bytes(sketch.end(20'000).bytes());
    ASSERT_TRUE(trace) << key;
    EXPECT_EQ(trace->anomalies.total(), 0u) << key;
    EXPECT_EQ(trace->metadata_named(key), nullptr);
    EXPECT_NE(trace->metadata_named("model"), nullptr);
  }
}

TEST_F(CapturedNodes, and_no_losses_are_read_out_of_nonsense) {
  for (const char* text : {"", "{", "[2]", R"({"unfinished": -2})", R"({"unfinished": "2"})", R"({"unfinished": 0})"}) {
    TellSketch sketch = simple_recording();
    sketch.session({{"meta:lost_device_records", text}});
    const auto trace = read_bytes(sketch.end(20'000).bytes());
    ASSERT_TRUE(trace) << text;
    EXPECT_EQ(trace->anomalies.total(), 0u) << text;
  }
}

TEST_F(CapturedNodes, and_work_before_its_launch_is_noted_where_the_clocks_do_not_explain_it) {
  sketch_.session({{"meta:cupti_dropped_records", "0"},
                   {"meta:device_clock", R"({"samples": 8, "drift_ppm": 0.5, "residual_ns": 300, "shifted_ns": 0})"}});
  records_.span(launch_, 9300, 100, zigzagged(78));
  records_.span_on(2, kernel_, 9000, 50, 78, zigzagged(0) + zigzagged(0));  // as early as the clocks may differ
  records_.span_on(2, kernel_, 8999, 50, 78, zigzagged(0) + zigzagged(0));
  const Trace trace = this->trace();
  EXPECT_EQ(trace.anomalies.count(Anomaly::kWorkBeforeLaunch), 1u);
  EXPECT_EQ(severity_of(Anomaly::kWorkBeforeLaunch), Severity::kNote);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kDroppedDeviceRecords), 0u);
  EXPECT_EQ(rows(trace).front(), "driver cuGraphLaunch 301+100 on main");  // nothing was moved
}

}  // namespace
}  // namespace telltale::tell
