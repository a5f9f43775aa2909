// What programs in other languages call of the fake library to capture CUDA graphs and to replay them.
#include "fake_cuda.h"

// Captures a node, which becomes the node 10 more than that of the graph 2.
extern "C" void fake_capture(int node) {
  const CUcontext context = fake::context(1);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, context);
  fake::launch(context, [node] { fake::create_node(fake::graph(1), fake::node(node)); });
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, context);
  fake::call_driver(
      CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, context,
      {.inside = [node] { fake::clone_node(fake::graph(2), fake::node(10 + node), fake::node(node)); }});
}

extern "C" void fake_replay(int node, const char* kernel_name) {
  const fake::Correlation launch = fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, fake::context(1));
  const std::uint64_t now = fake::device_time();
  CUpti_ActivityKernel9 record = fake::kernel(launch, kernel_name, now, now + 500);
  record.graphId = 2;
  record.graphNodeId = static_cast<std::uint64_t>(10 + node);
  fake::add(record);
}
