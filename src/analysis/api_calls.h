// What a call of a device's API does, by its name. All that depends on such names asks here, so that a trace means the
// same whether its launches were recorded by the runtime's names or by the driver's.
//
// Knows CUDA's runtime and driver, HIP, Ascend's runtime, Intel's Level Zero and SYCL. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace telltale {

enum class ApiCall : std::uint8_t {
  kLaunch,             // of a kernel or a graph: cudaLaunchKernel, cuLaunchKernelEx, hipGraphLaunch
  kSubmission,         // of work that comes as something else: aclnnMatmul, urEnqueueKernelLaunch
  kFill,               // cudaMemsetAsync
  kCopy,               // cudaMemcpyAsync; waits as well where the memory is pageable, which its name does not tell
  kWaitingCopy,        // returns when the copy is made: cudaMemcpy, cuMemcpyDtoH
  kWait,               // for the device: cudaStreamSynchronize, cuEventSynchronize
  kAllocation,         // of memory of the device, from its driver: cudaMalloc, cuMemCreate
  kFree,               // cudaFree, cuMemRelease
  kOrderedAllocation,  // in the order of a stream, meant to be called all the time: cudaMallocAsync
  kOrderedFree,        // cudaFreeAsync
  kHostAllocation,     // of pinned memory of the host: cudaHostAlloc
  kMapping,            // of addresses to memory: cuMemMap, cuMemSetAccess
  kOtherMemory,        // cudaFreeHost, cudaHostRegister, cuMemGetInfo
  kLoading,            // of code: cuModuleLoadData, cuLibraryLoadData
  kOther,              // cudaEventRecord, cudaStreamWaitEvent, cudaGetDevice
};

// Versions and variants of a function ("_v2", "_ptsz") are the same, and so is a layer before it ("AscendCL@").
ApiCall api_call_named(std::string_view name);

// Calls that return only when the device has done what it was given.
bool is_waiting_call(std::string_view name);
// Calls that hand work to the device.
bool is_launching_call(std::string_view name);

// Calls that ask for memory, which takes long without waiting for anything.
bool asks_for_memory(ApiCall call);
// Calls about memory of any sort.
bool is_about_memory(ApiCall call);

}  // namespace telltale
