#include "capture/cuda/chosen_calls.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

TEST(ChosenCalls, AreThoseThatMatter) {
  EXPECT_EQ(role_of_runtime_call("cudaLaunchKernelExC_v11060"), CallRole::kLaunch);
  EXPECT_EQ(role_of_runtime_call("cudaMemcpyAsync_v3020"), CallRole::kOther);
  EXPECT_EQ(role_of_runtime_call("cudaStreamSynchronize_ptsz_v7000"), CallRole::kWaitForStream);
  EXPECT_EQ(role_of_runtime_call("cudaEventRecordWithFlags_v11010"), CallRole::kRecordEvent);
  EXPECT_EQ(role_of_runtime_call("__cudaLaunchKernel_v13000"), CallRole::kLaunch);
  EXPECT_EQ(role_of_runtime_call("cudaDeviceReset_v3020"), CallRole::kEndsContext);
  EXPECT_EQ(role_of_driver_call("cuDevicePrimaryCtxReset_v2"), CallRole::kEndsContext);
  EXPECT_EQ(role_of_driver_call("cuLaunchKernelEx"), CallRole::kLaunch);
  EXPECT_EQ(role_of_driver_call("cuStreamWaitEvent_ptsz"), CallRole::kStreamWaits);
  EXPECT_EQ(role_of_driver_call("cuGraphInstantiateWithFlags"), CallRole::kCloneGraph);
  // PyTorch makes some twenty of these for each kernel.
  for (const char* name : {"cudaGetDevice_v3020", "cudaPeekAtLastError_v3020", "cudaStreamIsCapturing_v10000",
                           "cudaFuncGetAttributes_v3020", "cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000"})
    EXPECT_EQ(role_of_runtime_call(name), CallRole::kNotChosen) << name;
  for (const char* name : {"cuGetProcAddress", "cuCtxGetCurrent", "cuDevicePrimaryCtxGetState"})
    EXPECT_EQ(role_of_driver_call(name), CallRole::kNotChosen) << name;
}

TEST(ChosenCalls, AreToldByTheNameThatProgramsCall) {
  EXPECT_EQ(without_version("cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
  EXPECT_EQ(without_version("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(without_version("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(without_version("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(without_version("__cudaLaunchKernel_ptsz_v13000"), "cudaLaunchKernel");
  EXPECT_EQ(without_version("cuda_v"), "cuda_v");
  EXPECT_EQ(without_version(""), "");
}

TEST(ChosenCalls, KnowWhoseDefaultStreamTheyUse) {
  EXPECT_TRUE(is_per_thread("cudaMemcpy_ptds_v7000"));
  EXPECT_TRUE(is_per_thread("cuLaunchKernel_ptsz"));
  EXPECT_FALSE(is_per_thread("cudaMemcpyAsync_v3020"));
}

}  // namespace
}  // namespace telltale::capture
