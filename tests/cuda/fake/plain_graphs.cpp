// What programs in other languages call of the fake library to capture CUDA graphs and to replay them.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "fake_cuda.h"

namespace {

// Of the threads that must be inside this library at the same time.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_awaited = false, has_captured = false;
};
Meeting meeting;

}  // namespace

// Captures a node, which becomes the node 10 more than that of the graph 2.
extern "C" void fake_capture(int node) {
  const CUcontext context = fake::context(1);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, context);
  fake::launch(context, [node] { fake::create_node(fake::graph(1), fake::node(node)); });
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, context);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, context,
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

// Captures while another thread is in the function below.
extern "C" void fake_capture_while_awaited(int node) {
  std::unique_lock held(meeting.mutex);
  meeting.changed.wait(held, [] { return meeting.is_awaited; });
  held.unlock();
  fake_capture(node);
  held.lock();
  meeting.has_captured = true;
  meeting.changed.notify_all();
}

// Whether that capture ended within so many seconds.
extern "C" int fake_await_capture(int seconds) {
  std::unique_lock held(meeting.mutex);
  meeting.is_awaited = true;
  meeting.changed.notify_all();
  return meeting.changed.wait_for(held, std::chrono::seconds(seconds), [] { return meeting.has_captured; }) ? 1 : 0;
}
