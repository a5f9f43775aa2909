// Nodes of CUDA graphs: where they come from stands in the recording, also when they were captured before it.
#include <string_view>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

class CudaGraphs : public CudaTest {
 protected:
  // Three nodes are captured, and made into the nodes 11 to 13 of the graph 2, which can be launched.
  static void capture() {
    const CUcontext context = fake::context(1);
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, context);
    for (int i = 1; i <= 3; ++i) launch_op(i, context, [i] { fake::create_node(fake::graph(1), fake::node(i)); });
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, context);
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, context, {.inside = [] {
                        for (int i = 1; i <= 3; ++i)
                          fake::clone_node(fake::graph(2), fake::node(10 + i), fake::node(i));
                      }});
  }

  static void replay(int first_node = 11) {
    const fake::Correlation launched = fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, fake::context(1));
    for (int i = 1; i <= 3; ++i) {
      const std::uint64_t now = fake::device_time();
      CUpti_ActivityKernel9 record = fake::kernel(launched, kernel_of(i), now, now + 500);
      record.graphId = 2;
      record.graphNodeId = static_cast<std::uint64_t>(first_node + i - 1);
      fake::add(record);
    }
  }
};

constexpr std::string_view kStack = "train.py(12): forward";

int stack_of_caller(int, std::uint32_t* stack, std::uint32_t*) {
  *stack = telltale_intern(kStack.data());
  return 1;
}

TEST_F(CudaGraphs, captured_before_the_recording_have_the_stacks_of_their_capture) {
  telltale_cuda_options options = cuda_options();
  options.stacks = stack_of_caller;
  ASSERT_EQ(watch_cuda_graphs(options).status, TELLTALE_STATUS_OK);
  capture();
  start_session();
  start(options);
  replay();
  replay();
  stop();
  const Trace trace = stop_and_read();
  for (int i = 1; i <= 3; ++i) {
    const auto kernels = events_named(trace, kernel_of(i));
    ASSERT_EQ(kernels.size(), 2u);
    for (const EventId kernel : kernels) {
      EXPECT_EQ(trace.graph_nodes.find(kernel)->node, 10 + i);
      EXPECT_EQ(trace.graph_nodes.find(kernel)->graph, 2);
      EXPECT_EQ(trace.name(trace.launch_of(kernel)), "cuGraphLaunch");
      const auto* origin = trace.graph_origins.find(kernel);
      ASSERT_NE(origin, nullptr);
      EXPECT_EQ(trace.strings[origin->call_stack], kStack);
      EXPECT_EQ(origin->captured_in, kNoEvent);
    }
  }
}

TEST_F(CudaGraphs, captured_while_it_records_lead_to_what_was_open_then) {
  start_session();
  start();
  capture();
  replay();
  stop();
  const Trace trace = stop_and_read();
  for (int i = 1; i <= 3; ++i) {
    const auto kernels = events_named(trace, kernel_of(i));
    ASSERT_EQ(kernels.size(), 1u);
    const auto* origin = trace.graph_origins.find(kernels[0]);
    ASSERT_NE(origin, nullptr);
    ASSERT_NE(origin->captured_in, kNoEvent);
    EXPECT_EQ(number_around(trace, origin->captured_in), i);
  }
}

TEST_F(CudaGraphs, are_known_in_later_recordings) {
  telltale_cuda_options options = cuda_options();
  options.stacks = stack_of_caller;
  start_session();
  start(options);
  capture();
  replay();
  stop();
  stop_and_read();
  start_session();
  start(options);
  replay();
  stop();
  const Trace trace = stop_and_read();
  for (int i = 1; i <= 3; ++i) {
    const auto kernels = events_named(trace, kernel_of(i));
    ASSERT_EQ(kernels.size(), 1u);
    const auto* origin = trace.graph_origins.find(kernels[0]);
    ASSERT_NE(origin, nullptr);
    EXPECT_EQ(trace.strings[origin->call_stack], kStack);
  }
}

TEST_F(CudaGraphs, that_are_destroyed_before_their_records_come_still_have_their_origins) {
  start_session();
  start();
  capture();
  for (int i = 1; i <= 3; ++i) fake::destroy_node(fake::graph(1), fake::node(i));
  fake::set_late(true);
  replay();
  for (int i = 1; i <= 3; ++i) fake::destroy_node(fake::graph(2), fake::node(10 + i));
  stop();
  const Trace trace = stop_and_read();
  for (int i = 1; i <= 3; ++i) {
    const auto kernels = events_named(trace, kernel_of(i));
    ASSERT_EQ(kernels.size(), 1u);
    ASSERT_NE(trace.graph_origins.find(kernels[0]), nullptr);
    EXPECT_EQ(number_around(trace, trace.graph_origins.find(kernels[0])->captured_in), i);
  }
}

// A program that captures anew for each shape.
TEST_F(CudaGraphs, make_room_for_others_when_they_are_destroyed_and_are_counted_where_there_is_none) {
  constexpr int kEach = 60'000, kNoRoomFrom = 1 << 18;
  telltale_cuda_options options = cuda_options();
  options.stacks = stack_of_caller;
  start_session();
  start(options);
  const auto capture_and_clone = [](int first) {
    for (int i = first; i < first + kEach; ++i) fake::create_node(fake::graph(1), fake::node(i));
    for (int i = first; i < first + kEach; ++i) fake::clone_node(fake::graph(2), fake::node(kEach + i), fake::node(i));
    for (int i = first; i < first + kEach; ++i) fake::destroy_node(fake::graph(1), fake::node(i));
  };
  int first = 1000;
  for (int time = 0; time < 8; ++time, first += 2 * kEach) {
    capture_and_clone(first);
    if (time < 7)
      for (int i = first; i < first + kEach; ++i) fake::destroy_node(fake::graph(2), fake::node(kEach + i));
  }
  replay(first - kEach);
  stop();
  Trace trace = stop_and_read();
  EXPECT_EQ(trace.graph_origins.size(), 3u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnnotedGraphNode), 0u);

  start_session();
  start(options);
  const int known = 2 * kEach;
  for (int i = 0; i < kNoRoomFrom - known + 10; ++i) fake::create_node(fake::graph(3), fake::node(first + i));
  stop();
  trace = stop_and_read();
  EXPECT_GE(trace.anomalies.count(Anomaly::kUnnotedGraphNode), 10u);
  EXPECT_LT(trace.anomalies.count(Anomaly::kUnnotedGraphNode), 100u);  // some are known of other tests
  start();
  for (int i = 0; i < kNoRoomFrom - known; ++i) fake::destroy_node(fake::graph(3), fake::node(first + i));
  stop();
}

TEST_F(CudaGraphs, that_nobody_saw_replay_without_an_origin) {
  start_session();
  start();
  replay(21);
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(trace.graph_origins.size(), 0u);
  EXPECT_EQ(count_of(trace, "kernel_1"), 1u);
}

}  // namespace
}  // namespace telltale::capture
