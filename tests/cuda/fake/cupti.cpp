// CUPTI's half.
#include <cupti.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "calls.h"
#include "fake_cuda.h"

namespace fake {
namespace {

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, used = 0;
};

// Never held while the recorder is called.
struct State {
  std::mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  bool has_another_subscriber = false;
  std::set<std::pair<int, std::uint32_t>> enabled;
  std::set<int> domains;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<int> kinds;
  std::vector<Buffer> buffers;
  bool must_begin_buffer = false, are_late = false, domains_take_all_along = false;
  std::size_t dropped = 0;
  std::uint32_t version = 130001;
  Correlation next = 1;
  int attachment = 1;
  std::int64_t ahead_ns = 0;
  double drift_ppm = 0;
};

State& state() {
  static auto* const made = new State;
  return *made;
}

thread_local Correlation current = 0;  // of the call that this thread is in
thread_local Attachment of_last_call;

const std::map<std::uint32_t, const char*> kRuntimeNames = {
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync_v3020"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, "cudaMalloc_v3020"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize_v3020"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice_v3020"}};
const std::map<std::uint32_t, const char*> kDriverNames = {
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, "cuStreamEndCapture"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, "cuStreamDestroy_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "cuStreamSynchronize"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, "cuStreamWaitEvent"},
    {CUPTI_DRIVER_TRACE_CBID_cuEventRecord, "cuEventRecord"},
    {CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, "cuEventSynchronize"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2, "cuCtxDestroy_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, "cuCtxGetCurrent"}};

const char* name_of(CUpti_CallbackDomain domain, std::uint32_t id) {
  const auto& names = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? kRuntimeNames : kDriverNames;
  const auto found = names.find(id);
  return found != names.end() ? found->second : nullptr;
}

void call_back(CUpti_CallbackDomain domain, std::uint32_t id, const void* data) {
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard held(state().mutex);
    // CUPTI has gone and come back in the middle of the call, whose number is not one of its own.
    if (domain != CUPTI_CB_DOMAIN_RESOURCE && of_last_call.number != state().attachment) return;
    if (state().enabled.contains({domain, id}) || state().domains.contains(domain)) callback = state().callback;
    user = state().user;
  }
  if (callback != nullptr) callback(user, domain, id, data);
}

Correlation call(CUpti_CallbackDomain domain, std::uint32_t id, CUcontext context, const Call& made) {
  const Correlation outer = current;
  if (outer == 0) {
    const std::lock_guard held(state().mutex);
    if (state().next == 0) ++state().next;  // means none
    current = state().next++;
    of_last_call = {state().attachment};
  }
  const Correlation correlation = current;
  std::uint64_t kept = 0;
  int result = made.result;
  CUpti_CallbackData data = {};
  data.functionName = name_of(domain, id);
  data.functionParams = made.parameters;
  data.functionReturnValue = &result;
  data.context = context;
  data.correlationId = correlation;
  data.correlationData = &kept;
  data.callbackSite = CUPTI_API_ENTER;
  call_back(domain, id, &data);
  if (made.inside) made.inside();
  data.callbackSite = CUPTI_API_EXIT;
  call_back(domain, id, &data);
  current = outer;
  return correlation;
}

void tell_of_node(CUpti_CallbackIdResource what, CUgraph graph, CUgraphNode node, CUgraphNode original) {
  CUpti_GraphData made = {};
  made.graph = graph;
  made.node = node;
  made.originalNode = original;
  CUpti_ResourceData data = {};
  data.resourceDescriptor = &made;
  call_back(CUPTI_CB_DOMAIN_RESOURCE, what, &data);
}

std::size_t stored_bytes(std::size_t bytes) { return sizeof(std::uint64_t) + (bytes + 7) / 8 * 8; }

void clear(State& all) {
  all.callback = nullptr;
  all.enabled.clear();
  all.domains.clear();
  all.kinds.clear();
  all.request = nullptr;
  all.complete = nullptr;
  all.next = 1;
  ++all.attachment;
}

}  // namespace

void reset() {
  reset_driver();
  const std::lock_guard held(state().mutex);
  clear(state());
  state().has_another_subscriber = state().must_begin_buffer = state().are_late = false;
  state().domains_take_all_along = false;
  state().buffers.clear();
  state().dropped = 0;
  state().version = 130001;
  state().ahead_ns = 0;
  state().drift_ppm = 0;
}

void subscribe_another() {
  const std::lock_guard held(state().mutex);
  state().has_another_subscriber = true;
}

void set_cupti_version(std::uint32_t version) {
  const std::lock_guard held(state().mutex);
  state().version = version;
}

void set_domains_take_all_along(bool do_they) {
  const std::lock_guard held(state().mutex);
  state().domains_take_all_along = do_they;
}

Correlation call_runtime(CUpti_runtime_api_trace_cbid id, CUcontext context, const Call& made) {
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, id, context, made);
}

Correlation call_driver(CUpti_driver_api_trace_cbid id, CUcontext context, const Call& made) {
  return call(CUPTI_CB_DOMAIN_DRIVER_API, id, context, made);
}

Correlation launch(CUcontext context, const std::function<void()>& inside) {
  return call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, context, {.inside = [&] {
                        call_driver(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, context, {.inside = inside});
                      }});
}

void set_next_correlation(Correlation next) {
  const std::lock_guard held(state().mutex);
  state().next = next;
}

// A handle is its number.
CUcontext context(int number) { return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(number)); }
CUstream stream(int number) { return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(number)); }
CUevent event(int number) { return reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(number)); }
CUgraph graph(int number) { return reinterpret_cast<CUgraph>(static_cast<std::uintptr_t>(number)); }
CUgraphNode node(int number) { return reinterpret_cast<CUgraphNode>(static_cast<std::uintptr_t>(number)); }

void destroy_context(CUcontext context) {
  CUpti_ResourceData data = {};
  data.context = context;
  call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
  mark_destroyed(context);
}

void call_destroy_context(CUcontext context) {
  call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2, context, {.inside = [&] {
                destroy_context(context);
                const std::lock_guard held(state().mutex);
                for (Buffer& buffer : state().buffers) buffer.used = 0;
              }});
}

void create_node(CUgraph graph, CUgraphNode node) {
  tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph, node, nullptr);
}

void clone_node(CUgraph graph, CUgraphNode node, CUgraphNode original) {
  tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph, node, nullptr);
  tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, graph, node, original);
}

void destroy_node(CUgraph graph, CUgraphNode node) {
  tell_of_node(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, graph, node, nullptr);
}

void set_clock(std::int64_t ahead_ns, double drift_ppm) {
  const std::lock_guard held(state().mutex);
  state().ahead_ns = ahead_ns;
  state().drift_ppm = drift_ppm;
}

std::uint64_t device_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto host = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  const std::lock_guard held(state().mutex);
  // In whole numbers: a double has no room for nanoseconds since 1970.
  const auto gained = static_cast<std::int64_t>(static_cast<long double>(host) * state().drift_ppm / 1e6L);
  return static_cast<std::uint64_t>(host + gained + state().ahead_ns);
}

CUpti_ActivityKernel9 kernel(Correlation correlation, const char* name, std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel9 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = correlation;
  record.name = name;
  record.start = start;
  record.end = end;
  record.contextId = 1;
  record.streamId = 7;
  record.gridX = 132;
  record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
  record.blockX = 256;
  record.registersPerThread = 32;
  return record;
}

Attachment attachment_of_last_call() { return of_last_call; }

void add_record(const void* record, std::size_t bytes, Attachment of_call) {
  const std::uint64_t stored = stored_bytes(bytes);
  const auto append = [&](Buffer& buffer) {
    std::memcpy(buffer.data + buffer.used, &stored, sizeof stored);
    std::memcpy(buffer.data + buffer.used + sizeof stored, record, bytes);
    buffer.used += stored;
  };
  const auto is_of_before = [&] { return of_call.number != 0 && of_call.number != state().attachment; };
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  {
    const std::lock_guard held(state().mutex);
    if (is_of_before()) return;
    std::vector<Buffer>& buffers = state().buffers;
    request = state().request;
    if (!state().kinds.contains(static_cast<const CUpti_Activity*>(record)->kind) || request == nullptr) return;
    if (!std::exchange(state().must_begin_buffer, false) && !buffers.empty() &&
        buffers.back().used + stored <= buffers.back().size)
      return append(buffers.back());
  }
  Buffer made;
  std::size_t most = 0;
  request(&made.data, &made.size, &most);
  const std::lock_guard held(state().mutex);
  if (made.data == nullptr) {
    ++state().dropped;
    return;
  }
  if (!is_of_before()) append(made);
  state().buffers.push_back(made);
}

void drop_records(std::size_t count) {
  const std::lock_guard held(state().mutex);
  state().dropped += count;
}

void complete_buffers(Order order) {
  std::vector<Buffer> buffers;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard held(state().mutex);
    buffers = std::exchange(state().buffers, {});
    complete = state().complete;
  }
  if (order == Order::kReversed) std::reverse(buffers.begin(), buffers.end());
  if (complete == nullptr) return;
  for (const Buffer& buffer : buffers) complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
}

void begin_buffer() {
  const std::lock_guard held(state().mutex);
  state().must_begin_buffer = true;
}

void set_late(bool are_late) {
  const std::lock_guard held(state().mutex);
  state().are_late = are_late;
}

void keep_buffers() {
  const std::lock_guard held(state().mutex);
  state().buffers.clear();
}

std::size_t open_buffers() {
  const std::lock_guard held(state().mutex);
  return state().buffers.size();
}

}  // namespace fake

using fake::state;

#define FAIL_IF_ASKED(function) \
  if (const int code = fake::entered(#function)) return static_cast<CUptiResult>(code)

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  FAIL_IF_ASKED(cuptiGetVersion);
  const std::lock_guard held(state().mutex);
  *version = state().version;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** words) {
  FAIL_IF_ASKED(cuptiGetResultString);
  *words = "CUPTI_ERROR_OF_A_TEST";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  FAIL_IF_ASKED(cuptiGetTimestamp);
  *time = fake::device_time();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user) {
  FAIL_IF_ASKED(cuptiSubscribe);
  const std::lock_guard held(state().mutex);
  if (state().callback != nullptr || state().has_another_subscriber)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  state().callback = callback;
  state().user = user;
  if (state().version == 130001) state().dropped = 1;  // although it lost nothing
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&state());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  FAIL_IF_ASKED(cuptiUnsubscribe);
  const std::lock_guard held(state().mutex);
  state().callback = nullptr;
  state().enabled.clear();
  state().domains.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  FAIL_IF_ASKED(cuptiGetCallbackName);
  *name = fake::name_of(domain, id);
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  FAIL_IF_ASKED(cuptiEnableCallback);
  const std::lock_guard held(state().mutex);
  if (enable != 0)
    state().enabled.insert({domain, id});
  else
    state().enabled.erase({domain, id});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
  FAIL_IF_ASKED(cuptiEnableDomain);
  const std::lock_guard held(state().mutex);
  if (enable != 0) {
    state().domains.insert(domain);
  } else {
    state().domains.erase(domain);
    std::erase_if(state().enabled,
                  [&](const auto& one) { return one.first == domain || state().domains_take_all_along; });
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  FAIL_IF_ASKED(cuptiActivityRegisterCallbacks);
  const std::lock_guard held(state().mutex);
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  FAIL_IF_ASKED(cuptiActivityEnable);
  const std::lock_guard held(state().mutex);
  state().kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  FAIL_IF_ASKED(cuptiActivityDisable);
  const std::lock_guard held(state().mutex);
  state().kinds.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flags) {
  FAIL_IF_ASKED(cuptiActivityFlushAll);
  bool are_late = false;
  {
    const std::lock_guard held(state().mutex);
    are_late = state().are_late && (flags & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == 0;
  }
  if (!are_late) fake::complete_buffers();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) {
  FAIL_IF_ASKED(cuptiActivityGetNextRecord);
  std::size_t at = 0;
  if (*record != nullptr) {
    auto* const last = reinterpret_cast<std::uint8_t*>(*record) - sizeof(std::uint64_t);
    std::uint64_t stored = 0;
    std::memcpy(&stored, last, sizeof stored);
    at = static_cast<std::size_t>(last - buffer) + stored;
  }
  if (at >= bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at + sizeof(std::uint64_t));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  FAIL_IF_ASKED(cuptiActivityGetNumDroppedRecords);
  const std::lock_guard held(state().mutex);
  *dropped = std::exchange(state().dropped, 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph graph, std::uint32_t* id) {
  FAIL_IF_ASKED(cuptiGetGraphId);
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(graph));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  FAIL_IF_ASKED(cuptiGetGraphNodeId);
  *id = reinterpret_cast<std::uintptr_t>(node);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* device) {
  FAIL_IF_ASKED(cuptiGetDeviceId);
  *device = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context)) - 1;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
  FAIL_IF_ASKED(cuptiGetStreamIdEx);
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize() {
  FAIL_IF_ASKED(cuptiFinalize);
  fake::complete_buffers();
  const std::lock_guard held(state().mutex);
  fake::clear(state());
  return CUPTI_SUCCESS;
}

}  // extern "C"
