// A CUDA driver and a CUPTI without a device, in one library, and what tests tell them to do. It behaves as CUPTI was
// seen to: names, ids and structs are those of its headers, callbacks come on the thread that makes a call, records in
// buffers that the recorder hands out. A test scripts which calls are made, what the device did, in which order buffers
// come back, and which functions fail.
//
// The recorder opens it by TELLTALE_CUDA_LIBRARY and TELLTALE_CUPTI_LIBRARY. All functions may be called from any
// thread.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace fake {

// As if the process had just begun: nobody is subscribed, nothing fails.
void reset();

// ---- Errors ----

// From its `from`th call since reset() on, until the `last`, the function returns this code. "cuptiSubscribe",
// "cuCtxSynchronize", …
void fail(const std::string& function, int code, int from = 1, int last = std::numeric_limits<int>::max());
int calls_of(const std::string& function);
// Each call of the function begins with that.
void on_entering(const std::string& function, std::function<void()> act);
// Somebody else has subscribed.
void subscribe_another();
// As cuptiGetVersion() tells it; 130001 after reset().
void set_cupti_version(std::uint32_t version);
// Disabling a domain disables all else, as before CUDA 12.6 Update 1.
void set_domains_take_all_along(bool do_they);

// ---- What the program does ----

using Correlation = std::uint32_t;
// One call of the API on this thread, with what happens inside it, what it is given and what it returns. A call inside
// another has its correlation.
struct Call {
  std::function<void()> inside;
  const void* parameters = nullptr;  // CUPTI's struct for the function
  int result = 0;
};
Correlation call_runtime(CUpti_runtime_api_trace_cbid id, CUcontext context, const Call& call = {});
Correlation call_driver(CUpti_driver_api_trace_cbid id, CUcontext context, const Call& call = {});
// cudaLaunchKernel, which calls cuLaunchKernel.
Correlation launch(CUcontext context, const std::function<void()>& inside = {});
// The next call gets this number.
void set_next_correlation(Correlation next);

CUcontext context(int number);  // on the device of that number, less one
CUstream stream(int number);
CUevent event(int number);
void destroy_context(CUcontext context);
// cuCtxDestroy. What CUPTI has not handed over when the context ends is gone, as with versions of it that wait for no
// flush.
void call_destroy_context(CUcontext context);
void create_context(CUcontext context);  // at the address of one that is gone
CUgraph graph(int number);
CUgraphNode node(int number);  // whose id is that number
void create_node(CUgraph graph, CUgraphNode node);
void clone_node(CUgraph graph, CUgraphNode node, CUgraphNode original);
void destroy_node(CUgraph graph, CUgraphNode node);  // as destroying its graph, or what is made of it, does

// ---- What the device does ----

// Device time is the monotonic clock's, this much ahead and faster.
void set_clock(std::int64_t ahead_ns, double drift_ppm);
std::uint64_t device_time();

CUpti_ActivityKernel9 kernel(Correlation correlation, const char* name, std::uint64_t start, std::uint64_t end);

// Puts a record into a buffer, unless its kind is not enabled; where there is no buffer, it is dropped and counted.
// One of a call from before CUPTI came is not put there, where `of_call` tells.
struct Attachment {
  int number = 0;
};
Attachment attachment_of_last_call();  // of this thread
void add_record(const void* record, std::size_t bytes, Attachment of_call);
template <typename Record>
void add(const Record& record, Attachment of_call = {}) {
  add_record(&record, sizeof record, of_call);
}
void drop_records(std::size_t count);

enum class Order { kAsFilled, kReversed };
void complete_buffers(Order order = Order::kAsFilled);
// From the next record on, another buffer is used.
void begin_buffer();
// Flushing gives nothing back while buffers are late; only what forces them, or ends CUPTI, does.
void set_late(bool are_late);
// Never given back, with all that is in them.
void keep_buffers();
// How many buffers the recorder has handed out that have not been given back.
std::size_t open_buffers();

void on_synchronize(std::function<void(CUcontext)> act);

}  // namespace fake
