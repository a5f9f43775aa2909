// Every function fails with every code: nothing crashes, the recording goes on, and one line says why.
#include <unistd.h>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

// The first asks for names, which are kept once they are known.
constexpr const char* kCuptiFunctions[] = {"cuptiGetCallbackName",
                                           "cuptiSubscribe",
                                           "cuptiEnableCallback",
                                           "cuptiEnableDomain",
                                           "cuptiActivityRegisterCallbacks",
                                           "cuptiActivityEnable",
                                           "cuptiActivityDisable",
                                           "cuptiActivityFlushAll",
                                           "cuptiActivityGetNextRecord",
                                           "cuptiActivityGetNumDroppedRecords",
                                           "cuptiGetTimestamp",
                                           "cuptiGetGraphId",
                                           "cuptiGetGraphNodeId",
                                           "cuptiGetStreamIdEx",
                                           "cuptiGetDeviceId",
                                           "cuptiGetResultString",
                                           "cuptiUnsubscribe",
                                           "cuptiFinalize"};
constexpr const char* kDriverFunctions[] = {"cuDeviceGetCount",    "cuDeviceGet",          "cuDeviceGetName",
                                            "cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuCtxPushCurrent_v2",
                                            "cuCtxPopCurrent_v2",  "cuCtxSynchronize"};
constexpr int kDriverCodes[] = {CUDA_ERROR_INVALID_VALUE,   CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_INITIALIZED,
                                CUDA_ERROR_DEINITIALIZED,   CUDA_ERROR_NO_DEVICE,     CUDA_ERROR_INVALID_CONTEXT,
                                CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_UNKNOWN};

std::vector<int> cupti_codes() {
  std::vector<int> codes;
  for (int code = 1; code <= CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED + 12; ++code) codes.push_back(code);
  codes.push_back(CUPTI_ERROR_UNKNOWN);
  return codes;
}

class CudaErrors : public CudaTest {
 protected:
  // Starts, works and stops with that function failing from its `from`th call on.
  void work_with(const std::string& function, int code, int from) {
    SCOPED_TRACE(function + " returns " + std::to_string(code) + " from call " + std::to_string(from) + " on");
    fake::reset();
    fake::fail(function, code, from);
    telltale_cuda_options options = cuda_options();
    options.calls = static_cast<std::uint32_t>(code % 3);
    const Outcome outcome = start_cuda(options);
    if (outcome.status != TELLTALE_STATUS_OK) {
      EXPECT_NE(outcome.error, "");
      EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << outcome.error;
      ++failed_starts_;
    }
    launch_op(0);
    fake::create_node(fake::graph(1), fake::node(1));
    fake::clone_node(fake::graph(2), fake::node(2), fake::node(1));
    run_op(0);
    works_ += 2;
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, fake::context(1));
    fake::complete_buffers();
    EXPECT_EQ(stop_cuda().status == TELLTALE_STATUS_OK, outcome.status == TELLTALE_STATUS_OK);
    EXPECT_TRUE(telltale_is_recording());
  }

  // Nothing of what failed before keeps it from working.
  void expect_that_it_works() {
    fake::reset();
    start();
    run_op(next_);
    stop();
    expected_.push_back(next_++);
  }

  // What is recorded in spite of errors is right: all that the program did, and kernels as long as they were, in the
  // tenth of a second behind their launch.
  void expect_nothing_wrong(const Trace& trace) {
    EXPECT_EQ(count_of(trace, "op"), works_ + expected_.size());
    constexpr Nanoseconds kLongAfter = 100'000'000;
    std::size_t wrong = 0;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (trace.events.kind[event] != Kind::kKernel) continue;
      const EventId launch = trace.launch_of(event);
      const Nanoseconds behind = launch == kNoEvent ? 0 : trace.events.start[event] - trace.events.start[launch];
      const Nanoseconds takes = trace.events.duration[event];
      if (behind < 0 || behind > kLongAfter || takes < 900 || takes > 1100) ++wrong;
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_LT(trace.duration, 600'000'000'000);
  }

  void expect_kernels_of_what_works(const Trace& trace) {
    for (const int number : expected_) {
      const auto kernels = events_named(trace, kernel_of(number));
      ASSERT_EQ(kernels.size(), 1u) << number;
      EXPECT_NE(trace.launch_of(kernels[0]), kNoEvent) << number;
    }
  }

  int failed_starts_ = 0;
  std::size_t works_ = 0;
  int next_ = 1000;
  std::vector<int> expected_;
};

TEST_F(CudaErrors, of_cupti_do_no_harm) {
  start_session();
  for (const char* function : kCuptiFunctions) {
    for (const int code : cupti_codes())
      for (const int from : {1, 3}) work_with(function, code, from);
    expect_that_it_works();
  }
  EXPECT_GT(failed_starts_, 100);
  const Trace trace = stop_and_read();
  expect_kernels_of_what_works(trace);
  expect_nothing_wrong(trace);
}

TEST_F(CudaErrors, of_the_driver_do_no_harm) {
  start_session();
  for (const char* function : kDriverFunctions) {
    for (const int code : kDriverCodes) work_with(function, code, 1);
    expect_that_it_works();
  }
  EXPECT_EQ(failed_starts_, 0);
  const Trace trace = stop_and_read();
  expect_kernels_of_what_works(trace);
  expect_nothing_wrong(trace);
}

TEST_F(CudaErrors, of_permission_say_who_can_help) {
  start_session();
  fake::fail("cuptiActivityEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  const Outcome outcome = start_cuda(cuda_options());
  EXPECT_NE(outcome.error.find("administrator"), std::string::npos) << outcome.error;
}

}  // namespace
}  // namespace telltale::capture
