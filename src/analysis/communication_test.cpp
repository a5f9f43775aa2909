#include "analysis/communication.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kReduceKernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";

// Two steps of 1000 ns, with a compute and a communication stream on device 0.
struct TwoSteps : TraceSketch {
  TrackId main = thread("main");
  TrackId compute = stream(0, 7), network = stream(0, 20);

  TwoSteps() {
    event(main, Kind::kAnnotation, "ProfilerStep#1", 0, 1000);
    event(main, Kind::kAnnotation, "ProfilerStep#2", 1000, 2000);
  }
  Handle launch(Nanoseconds time) { return event(main, Kind::kRuntime, "cudaLaunchKernelExC", time, time + 2); }
  CollectiveInfo info(std::string_view collective, std::string_view type, std::int64_t elements) {
    CollectiveInfo result;
    result.collective = trace().strings.intern(collective);
    result.dtype = trace().strings.intern(type);
    result.in_elements = elements;
    return result;
  }
  Communication communicated() {
    const Trace trace = build();
    return communication(trace, step_timing(trace));
  }
};

// The product hides 50 ns; the copy hides nothing.
TEST(Communication, is_exposed_where_the_device_computes_nothing) {
  TwoSteps sketch;
  sketch.work(sketch.network, Kind::kKernel, kReduceKernel, 100, 300, sketch.launch(10));
  sketch.work(sketch.compute, Kind::kKernel, "gemm", 50, 150, sketch.launch(20));
  sketch.work(sketch.compute, Kind::kMemcpy, "Memcpy DtoD", 200, 240, sketch.launch(30));
  sketch.work(sketch.stream(1, 7), Kind::kKernel, "gemm", 100, 300, sketch.launch(40));
  const Communication result = sketch.communicated();

  EXPECT_EQ(result.device, 0);
  EXPECT_EQ(result.total_ns, 200 / 2);
  EXPECT_EQ(result.exposed_ns, (200 - 50) / 2);
  EXPECT_EQ(result.overlap_percent(), 25);
  ASSERT_EQ(result.rows.size(), 1);
  EXPECT_EQ(result.rows[0].name, kReduceKernel);
  EXPECT_DOUBLE_EQ(result.rows[0].calls, 0.5);
  EXPECT_EQ(result.rows[0].bytes, std::nullopt);
  EXPECT_EQ(result.rows[0].exposed_ns, 75);
}

TEST(Communication, collectives_at_the_same_time_count_once_and_do_not_hide_each_other) {
  TwoSteps sketch;
  const TrackId second_network = sketch.stream(0, 21);
  sketch.work(sketch.network, Kind::kKernel, "ncclDevKernel_AllGather", 100, 300, sketch.launch(10));
  sketch.work(second_network, Kind::kKernel, kReduceKernel, 200, 500, sketch.launch(20));
  const Communication result = sketch.communicated();

  EXPECT_EQ(result.total_ns, 400 / 2);
  EXPECT_EQ(result.exposed_ns, 400 / 2);
  ASSERT_EQ(result.rows.size(), 2);
  EXPECT_EQ(result.rows[0].name, kReduceKernel);
  EXPECT_EQ(result.rows[0].device_ns, 150);
  EXPECT_EQ(result.rows[1].exposed_ns, 100);
}

TEST(Communication, is_known_by_metadata_of_the_work_or_of_the_operator_that_launched_it) {
  TwoSteps sketch;
  const auto reduce = sketch.work(sketch.network, Kind::kKernel, "some_kernel", 100, 200, sketch.launch(10));
  sketch.set_collective(reduce, sketch.info("allreduce", "BFloat16", 1000));
  const auto op = sketch.op(sketch.main, "record_param_comms", 300, 400);
  sketch.set_collective(op, sketch.info("allreduce", "Float", 1000));
  sketch.work(sketch.network, Kind::kKernel, "other_kernel", 400, 450, sketch.launch(310));
  const auto gather = sketch.work(sketch.network, Kind::kCollective, "gather", 500, 520, sketch.launch(410));
  sketch.set_collective(gather, sketch.info("gather", "Float8_e4m3fn", 64));
  const auto odd = sketch.work(sketch.network, Kind::kCollective, "odd", 600, 610, sketch.launch(420));
  sketch.set_collective(odd, sketch.info("", "Quaternion", 64));
  const Communication result = sketch.communicated();

  ASSERT_EQ(result.rows.size(), 3);
  EXPECT_EQ(result.rows[0].name, "allreduce");
  EXPECT_DOUBLE_EQ(result.rows[0].calls, 1);
  EXPECT_DOUBLE_EQ(result.rows[0].bytes.value_or(0), (2000 + 4000) / 2.0);
  EXPECT_EQ(result.rows[0].device_ns, 150 / 2);
  EXPECT_EQ(result.rows[1].name, "gather");
  EXPECT_DOUBLE_EQ(result.rows[1].bytes.value_or(0), 32);
  EXPECT_EQ(result.rows[2].name, "odd");
  EXPECT_EQ(result.rows[2].bytes, std::nullopt);
}

TEST(Communication, work_of_operators_within_a_collective_is_no_communication) {
  TwoSteps sketch;
  const auto op = sketch.op(sketch.main, "record_param_comms", 10, 100);
  sketch.set_collective(op, sketch.info("allgather", "Float", 8));
  sketch.op(sketch.main, "aten::copy_", 20, 50);
  sketch.work(sketch.compute, Kind::kKernel, "elementwise_kernel", 30, 60, sketch.launch(25));
  EXPECT_TRUE(sketch.communicated().rows.empty());
}

TEST(Communication, counts_what_the_steps_launched) {
  TwoSteps sketch;
  sketch.work(sketch.network, Kind::kKernel, kReduceKernel, 2100, 2200, sketch.launch(1900));
  sketch.work(sketch.network, Kind::kKernel, kReduceKernel, 2300, 2400, sketch.launch(2050));
  sketch.event(sketch.network, Kind::kKernel, kReduceKernel, 500, 540);  // launched before the recording
  EXPECT_EQ(sketch.communicated().total_ns, 100 / 2);
}

TEST(Communication, counts_what_runs_in_the_steps_where_no_launch_is_known) {
  TwoSteps sketch;
  sketch.event(sketch.network, Kind::kKernel, kReduceKernel, 500, 540);
  EXPECT_EQ(sketch.communicated().total_ns, 40 / 2);
}

TEST(Communication, without_collectives_there_is_no_overlap_to_tell_of) {
  TwoSteps sketch;
  sketch.work(sketch.compute, Kind::kKernel, "gemm", 30, 60, sketch.launch(25));
  const Communication result = sketch.communicated();
  EXPECT_EQ(result.device, kHost);
  EXPECT_EQ(result.total_ns, 0);
  EXPECT_FALSE(result.overlap_percent());
  EXPECT_TRUE(communication(Trace{}, step_timing(Trace{})).rows.empty());
}

}  // namespace
}  // namespace telltale
