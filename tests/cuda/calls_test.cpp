// Which calls of CUDA's API are recorded, and what those that wait say of whom.
#include <set>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

std::vector<std::string> calls_seen(const Trace& trace) {
  std::vector<std::string> names;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kRuntime || trace.events.kind[event] == Kind::kDriver)
      names.emplace_back(trace.name(event));
  return names;
}

class CudaCalls : public CudaTest {
 protected:
  std::vector<std::string> seen_with(telltale_cuda_calls calls) {
    start_session();
    telltale_cuda_options options = cuda_options();
    options.calls = calls;
    start(options);
    fake::launch(fake::context(1));
    fake::call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, fake::context(1),
                       {.inside = [] { fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, fake::context(1)); }});
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, fake::context(1));
    fake::call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, fake::context(1));
    stop();
    return calls_seen(stop_and_read());
  }
};
using Names = std::vector<std::string>;

TEST_F(CudaCalls, that_matter_are_recorded_once_and_launches_by_the_driver) {
  EXPECT_EQ(seen_with(TELLTALE_CUDA_CALLS_CHOSEN), (Names{"cuLaunchKernel", "cudaMalloc", "cuMemAlloc"}));
}

TEST_F(CudaCalls, are_recorded_by_the_names_that_the_program_called) {
  EXPECT_EQ(seen_with(TELLTALE_CUDA_CALLS_AS_CALLED), (Names{"cudaLaunchKernel", "cudaMalloc", "cuMemAlloc"}));
}

TEST_F(CudaCalls, are_all_recorded_when_asked_for) {
  EXPECT_EQ(seen_with(TELLTALE_CUDA_CALLS_ALL),
            (Names{"cudaLaunchKernel", "cudaMalloc", "cuMemAlloc", "cudaGetDevice"}));
}

TEST_F(CudaCalls, that_wait_for_events_tell_them_apart_however_many_there_are) {
  struct EventAlone {
    CUevent event;
    CUstream stream;
  };
  const auto call = [](CUpti_driver_api_trace_cbid id, int event) {
    const EventAlone parameters = {fake::event(event), fake::stream(7)};
    fake::call_driver(id, fake::context(1), {.parameters = &parameters});
  };
  constexpr int kEvents = 1 << 16;
  start_session();
  start();
  for (int event = 1; event <= kEvents + 1; ++event) call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, event);
  call(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, kEvents + 1);
  stop();
  start();
  for (int event = 1; event <= kEvents + 1; ++event) {
    call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, event);
    if (event == 1) call(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, event);
  }
  call(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, kEvents + 1);
  stop();
  const Trace trace = stop_and_read();
  std::set<std::int64_t> numbers;
  for (const EventId wait : events_named(trace, "Event Sync")) numbers.insert(trace.syncs.find(wait)->wait_on_event);
  EXPECT_EQ(numbers.size(), 3u);
}

TEST_F(CudaCalls, that_wait_say_for_whom) {
  struct Both {
    void *first, *second;
  };
  const auto call = [](CUpti_driver_api_trace_cbid id, void* first, void* second) {
    const Both parameters = {first, second};
    fake::call_driver(id, fake::context(1), {.parameters = &parameters});
  };
  start_session();
  start();
  call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, fake::event(5), fake::stream(7));
  call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, fake::stream(9), fake::event(5));
  call(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, fake::event(5), nullptr);
  call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, fake::stream(9), nullptr);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, fake::context(1));
  stop();
  const Trace trace = stop_and_read();
  struct Expected {
    const char* name;
    std::int64_t track, waited_for;
  };
  for (const Expected& wait :
       {Expected{"Stream Wait Event", 9, 7}, {"Event Sync", -1, 7}, {"Stream Sync", 9, 9}, {"Context Sync", -1, -1}}) {
    const auto found = events_named(trace, wait.name);
    ASSERT_EQ(found.size(), 1u) << wait.name;
    EXPECT_EQ(trace.tracks[trace.events.track[found[0]]].native_id, wait.track) << wait.name;
    const SyncInfo* info = trace.syncs.find(found[0]);
    EXPECT_EQ(info != nullptr ? info->wait_on_stream : -1, wait.waited_for) << wait.name;
  }
}

}  // namespace
}  // namespace telltale::capture
