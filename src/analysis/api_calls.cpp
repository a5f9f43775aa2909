#include "analysis/api_calls.h"

#include <algorithm>
#include <array>
#include <span>

namespace telltale {
namespace {

enum class Match : std::uint8_t { kAll, kBeginning, kPart };

struct NamedCall {
  std::string_view text;
  Match match;
  ApiCall call;
};

// The first that matches counts.
constexpr auto kCalls = std::to_array<NamedCall>({
    {"Synchronize", Match::kPart, ApiCall::kWait},
    {"StreamWaitValue", Match::kPart, ApiCall::kWait},
    {"QueueFinish", Match::kPart, ApiCall::kWait},
    {"urEventWait", Match::kAll, ApiCall::kWait},
    {"piEventsWait", Match::kAll, ApiCall::kWait},
    {"cudaMemcpy", Match::kAll, ApiCall::kWaitingCopy},
    {"cudaMemcpy2D", Match::kAll, ApiCall::kWaitingCopy},
    {"cudaMemcpy3D", Match::kAll, ApiCall::kWaitingCopy},
    {"cudaMemcpyToSymbol", Match::kAll, ApiCall::kWaitingCopy},
    {"cudaMemcpyFromSymbol", Match::kAll, ApiCall::kWaitingCopy},
    {"cuMemcpy", Match::kAll, ApiCall::kWaitingCopy},
    {"cuMemcpy2D", Match::kAll, ApiCall::kWaitingCopy},
    {"cuMemcpy3D", Match::kAll, ApiCall::kWaitingCopy},
    {"cuMemcpyHtoD", Match::kAll, ApiCall::kWaitingCopy},
    {"cuMemcpyDtoH", Match::kAll, ApiCall::kWaitingCopy},
    {"hipMemcpy", Match::kAll, ApiCall::kWaitingCopy},
    {"hipMemcpy2D", Match::kAll, ApiCall::kWaitingCopy},
    {"hipMemcpyWithStream", Match::kAll, ApiCall::kWaitingCopy},
    {"hipMemcpyHtoD", Match::kAll, ApiCall::kWaitingCopy},
    {"hipMemcpyDtoH", Match::kAll, ApiCall::kWaitingCopy},
    {"aclrtMemcpy", Match::kAll, ApiCall::kWaitingCopy},
    {"ModuleLoad", Match::kPart, ApiCall::kLoading},
    {"cuLibraryLoad", Match::kBeginning, ApiCall::kLoading},
    {"cudaLibraryLoad", Match::kBeginning, ApiCall::kLoading},
    {"Memcpy", Match::kPart, ApiCall::kCopy},
    {"MemoryCopy", Match::kPart, ApiCall::kCopy},
    {"MemPrefetch", Match::kPart, ApiCall::kCopy},
    {"Memset", Match::kPart, ApiCall::kFill},
    {"MemoryFill", Match::kPart, ApiCall::kFill},
    {"LaunchHostFunc", Match::kPart, ApiCall::kOther},
    {"LaunchKernel", Match::kPart, ApiCall::kLaunch},
    {"LaunchCooperativeKernel", Match::kPart, ApiCall::kLaunch},
    {"GraphLaunch", Match::kPart, ApiCall::kLaunch},
    {"Launch", Match::kPart, ApiCall::kSubmission},
    {"aclopExecute", Match::kPart, ApiCall::kSubmission},
    {"submit_for_execution", Match::kPart, ApiCall::kSubmission},  // MTIA's
    {"cudaMallocHost", Match::kBeginning, ApiCall::kHostAllocation},
    {"cudaHostAlloc", Match::kBeginning, ApiCall::kHostAllocation},
    {"cuMemAllocHost", Match::kBeginning, ApiCall::kHostAllocation},
    {"cuMemHostAlloc", Match::kBeginning, ApiCall::kHostAllocation},
    {"hipHostMalloc", Match::kBeginning, ApiCall::kHostAllocation},
    {"hipHostAlloc", Match::kBeginning, ApiCall::kHostAllocation},
    {"hipMallocHost", Match::kBeginning, ApiCall::kHostAllocation},
    {"cudaFreeHost", Match::kBeginning, ApiCall::kOtherMemory},
    {"cudaHostRegister", Match::kBeginning, ApiCall::kOtherMemory},
    {"cudaHostUnregister", Match::kBeginning, ApiCall::kOtherMemory},
    {"cuMemFreeHost", Match::kBeginning, ApiCall::kOtherMemory},
    {"hipFreeHost", Match::kBeginning, ApiCall::kOtherMemory},
    {"hipHostFree", Match::kBeginning, ApiCall::kOtherMemory},
    {"cudaMallocAsync", Match::kBeginning, ApiCall::kOrderedAllocation},
    {"cudaMallocFromPoolAsync", Match::kBeginning, ApiCall::kOrderedAllocation},
    {"cuMemAllocAsync", Match::kBeginning, ApiCall::kOrderedAllocation},
    {"cuMemAllocFromPoolAsync", Match::kBeginning, ApiCall::kOrderedAllocation},
    {"hipMallocAsync", Match::kBeginning, ApiCall::kOrderedAllocation},
    {"hipMallocFromPoolAsync", Match::kBeginning, ApiCall::kOrderedAllocation},
    {"cudaFreeAsync", Match::kBeginning, ApiCall::kOrderedFree},
    {"cuMemFreeAsync", Match::kBeginning, ApiCall::kOrderedFree},
    {"hipFreeAsync", Match::kBeginning, ApiCall::kOrderedFree},
    {"cudaMalloc", Match::kBeginning, ApiCall::kAllocation},
    {"cuMemAlloc", Match::kBeginning, ApiCall::kAllocation},
    {"cuMemCreate", Match::kBeginning, ApiCall::kAllocation},
    {"hipMalloc", Match::kBeginning, ApiCall::kAllocation},
    {"hipMemCreate", Match::kBeginning, ApiCall::kAllocation},
    {"cudaFree", Match::kBeginning, ApiCall::kFree},
    {"cuMemFree", Match::kBeginning, ApiCall::kFree},
    {"cuMemRelease", Match::kBeginning, ApiCall::kFree},
    {"hipFree", Match::kBeginning, ApiCall::kFree},
    {"hipMemRelease", Match::kBeginning, ApiCall::kFree},
    {"MemMap", Match::kPart, ApiCall::kMapping},
    {"MemUnmap", Match::kPart, ApiCall::kMapping},
    {"MemAddress", Match::kPart, ApiCall::kMapping},
    {"MemSetAccess", Match::kPart, ApiCall::kMapping},
    {"cuMem", Match::kBeginning, ApiCall::kOtherMemory},
    {"hipMem", Match::kBeginning, ApiCall::kOtherMemory},
    {"hipExtMalloc", Match::kBeginning, ApiCall::kOtherMemory},
    {"aclrtMalloc", Match::kBeginning, ApiCall::kOtherMemory},
    {"aclrtFree", Match::kBeginning, ApiCall::kOtherMemory},
    {"zeMemAlloc", Match::kBeginning, ApiCall::kOtherMemory},
    {"zeMemFree", Match::kBeginning, ApiCall::kOtherMemory},
});

// "AscendCL@aclrtMemcpy" names the layer before the call; "cuMemcpyHtoD_v2_ptds" a version and where its default stream
// is.
std::string_view plain_name(std::string_view name) {
  name = name.substr(name.find('@') + 1);
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string_view::npos && last + 1 < name.size() && name.substr(0, last + 1).ends_with("_v"))
    name = name.substr(0, last - 1);
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) return plain_name(name.substr(0, name.size() - suffix.size()));
  return name;
}

bool matches(std::string_view name, const NamedCall& call) {
  switch (call.match) {
    case Match::kAll:
      return name == call.text;
    case Match::kBeginning:
      return name.starts_with(call.text);
    case Match::kPart:
      return name.contains(call.text);
  }
  return false;
}

bool is_one_of(ApiCall call, std::span<const ApiCall> calls) { return std::ranges::find(calls, call) != calls.end(); }

}  // namespace

ApiCall api_call_named(std::string_view name) {
  name = plain_name(name);
  if (name.starts_with("aclnn")) return name.ends_with("GetWorkspaceSize") ? ApiCall::kOther : ApiCall::kSubmission;
  const auto found = std::ranges::find_if(kCalls, [&](const NamedCall& call) { return matches(name, call); });
  return found == kCalls.end() ? ApiCall::kOther : found->call;
}

bool is_waiting_call(std::string_view name) {
  constexpr std::array kWaiting = {ApiCall::kWait, ApiCall::kWaitingCopy};
  return is_one_of(api_call_named(name), kWaiting);
}

bool is_launching_call(std::string_view name) {
  constexpr std::array kLaunching = {ApiCall::kLaunch, ApiCall::kSubmission, ApiCall::kFill, ApiCall::kCopy,
                                     ApiCall::kWaitingCopy};
  return is_one_of(api_call_named(name), kLaunching);
}

bool asks_for_memory(ApiCall call) {
  constexpr std::array kAsking = {ApiCall::kAllocation, ApiCall::kOrderedAllocation, ApiCall::kHostAllocation};
  return is_one_of(call, kAsking);
}

bool is_about_memory(ApiCall call) {
  constexpr std::array kOthers = {ApiCall::kFree, ApiCall::kOrderedFree, ApiCall::kMapping, ApiCall::kOtherMemory};
  return asks_for_memory(call) || is_one_of(call, kOthers);
}

}  // namespace telltale
