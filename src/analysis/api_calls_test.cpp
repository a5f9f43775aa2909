#include "analysis/api_calls.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace telltale {
namespace {

TEST(ApiCalls, mean_the_same_by_the_runtime_and_by_the_driver) {
  const std::initializer_list<std::pair<std::string_view, std::string_view>> kPairs = {
      {"cudaLaunchKernel", "cuLaunchKernel"},
      {"cudaLaunchKernelExC", "cuLaunchKernelEx"},
      {"cudaGraphLaunch", "cuGraphLaunch"},
      {"cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel"},
      {"cudaMemcpyAsync", "cuMemcpyHtoDAsync_v2"},
      {"cudaMemcpy", "cuMemcpyDtoH_v2"},
      {"cudaMemsetAsync", "cuMemsetD32Async"},
      {"cudaStreamSynchronize", "cuStreamSynchronize"},
      {"cudaEventSynchronize", "cuEventSynchronize"},
      {"cudaDeviceSynchronize", "cuCtxSynchronize"},
      {"cudaMalloc", "cuMemAlloc_v2"},
      {"cudaFree", "cuMemFree_v2"},
      {"cudaMallocAsync", "cuMemAllocAsync"},
      {"cudaFreeAsync", "cuMemFreeAsync"},
      {"cudaHostAlloc", "cuMemHostAlloc"},
      {"cudaEventRecord", "cuEventRecord"},
      {"cudaStreamWaitEvent", "cuStreamWaitEvent"},
      {"cudaMemPrefetchAsync", "cuMemPrefetchAsync"},
      {"cudaLaunchHostFunc", "cuLaunchHostFunc"},
  };
  for (const auto& [runtime, driver] : kPairs) EXPECT_EQ(api_call_named(runtime), api_call_named(driver)) << runtime;
}

TEST(ApiCalls, mean_the_same_in_every_version_and_for_every_default_stream) {
  EXPECT_EQ(api_call_named("cudaMemcpy_ptds"), ApiCall::kWaitingCopy);
  EXPECT_EQ(api_call_named("cudaLaunchKernel_ptsz"), ApiCall::kLaunch);
  EXPECT_EQ(api_call_named("cuMemcpyHtoD_v2_ptds"), ApiCall::kWaitingCopy);
  EXPECT_EQ(api_call_named("cuMemcpyHtoD_ptds_v2"), ApiCall::kWaitingCopy);
  EXPECT_EQ(api_call_named("AscendCL@aclrtMemcpy"), ApiCall::kWaitingCopy);
}

TEST(ApiCalls, wait_or_hand_over_work_or_neither) {
  for (const std::string_view name :
       {"cudaDeviceSynchronize", "cudaEventSynchronize", "cuCtxSynchronize", "hipStreamSynchronize", "cudaMemcpy",
        "hipMemcpy", "hipMemcpyWithStream", "hipDeviceSynchronize", "hipEventSynchronize",
        "AscendCL@aclrtSynchronizeStream", "AscendCL@aclrtMemcpy", "cuMemcpyDtoH_v2", "zeEventHostSynchronize",
        "urQueueFinish", "urEventWait"})
    EXPECT_TRUE(is_waiting_call(name)) << name;
  for (const std::string_view name :
       {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamWaitEvent", "cudaEventRecord", "hipMemcpyAsync",
        "hipStreamWaitEvent", "AscendCL@aclrtMemcpyAsync", "urEnqueueEventsWait"})
    EXPECT_FALSE(is_waiting_call(name)) << name;
  for (const std::string_view name :
       {"cudaLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaMemsetAsync",
        "hipLaunchKernel", "cudaLaunchCooperativeKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel",
        "hipGraphLaunch", "hipMemsetAsync", "AscendCL@aclnnMatmul", "urEnqueueKernelLaunch",
        "runFunction - job_prep_and_submit_for_execution"})
    EXPECT_TRUE(is_launching_call(name)) << name;
  for (const std::string_view name :
       {"cudaStreamSynchronize", "cudaMalloc", "cudaLaunchHostFunc", "cudaStreamIsCapturing", "cudaEventRecord",
        "hipModuleLoadData", "AscendCL@aclnnMatmulGetWorkspaceSize"})
    EXPECT_FALSE(is_launching_call(name)) << name;
}

TEST(ApiCalls, ask_for_memory_of_the_device_or_of_the_host) {
  EXPECT_EQ(api_call_named("cudaMallocManaged"), ApiCall::kAllocation);
  EXPECT_EQ(api_call_named("hipMalloc"), ApiCall::kAllocation);
  EXPECT_EQ(api_call_named("cudaMallocHost"), ApiCall::kHostAllocation);
  EXPECT_EQ(api_call_named("cudaFreeHost"), ApiCall::kOtherMemory);
  EXPECT_EQ(api_call_named("cuMemSetAccess"), ApiCall::kMapping);
  EXPECT_EQ(api_call_named("cuMemAddressReserve"), ApiCall::kMapping);
  EXPECT_TRUE(asks_for_memory(api_call_named("cuMemCreate")));
  EXPECT_FALSE(asks_for_memory(api_call_named("cudaFree")));
  EXPECT_TRUE(is_about_memory(api_call_named("cuMemGetInfo_v2")));
  EXPECT_FALSE(is_about_memory(api_call_named("cudaFuncGetAttributes")));
}

}  // namespace
}  // namespace telltale
