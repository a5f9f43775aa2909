#include "capture/cuda/chosen_calls.h"

#include <algorithm>
#include <array>
#include <span>

namespace telltale::capture {
namespace {

struct Choice {
  std::string_view prefix;
  CallRole role;
};

constexpr std::array kRuntimeCalls = std::to_array<Choice>({
    {"cudaLaunch", CallRole::kLaunch},
    {"__cudaLaunchKernel", CallRole::kLaunch},  // what nvcc of CUDA 13 makes of <<<>>>
    {"cudaGraphLaunch", CallRole::kLaunch},
    {"cudaMemcpy", CallRole::kOther},
    {"cudaMemset", CallRole::kOther},
    {"cudaMemPrefetch", CallRole::kOther},
    {"cudaMalloc", CallRole::kOther},
    {"cudaFree", CallRole::kOther},
    {"cudaHostAlloc", CallRole::kOther},
    {"cudaHostRegister", CallRole::kOther},
    {"cudaHostUnregister", CallRole::kOther},
    {"cudaDeviceSynchronize", CallRole::kWaitForDevice},
    {"cudaThreadSynchronize", CallRole::kWaitForDevice},
    {"cudaStreamSynchronize", CallRole::kWaitForStream},
    {"cudaStreamWaitEvent", CallRole::kStreamWaits},
    {"cudaStreamQuery", CallRole::kOther},
    {"cudaEventRecord", CallRole::kRecordEvent},
    {"cudaEventSynchronize", CallRole::kWaitForEvent},
    {"cudaEventQuery", CallRole::kOther},
    {"cudaDeviceReset", CallRole::kEndsContext},
    {"cudaThreadExit", CallRole::kEndsContext},
});

constexpr std::array kDriverCalls = std::to_array<Choice>({
    {"cuLaunch", CallRole::kLaunch},
    {"cuGraphLaunch", CallRole::kLaunch},
    {"cuStreamBeginCapture", CallRole::kBeginCapture},
    {"cuStreamEndCapture", CallRole::kEndCapture},
    {"cuStreamDestroy", CallRole::kDestroyStream},
    {"cuGraphInstantiate", CallRole::kCloneGraph},
    {"cuGraphClone", CallRole::kCloneGraph},
    {"cuGraphAddChildGraphNode", CallRole::kCloneGraph},
    {"cuMemcpy", CallRole::kOther},
    {"cuMemset", CallRole::kOther},
    {"cuMemPrefetch", CallRole::kOther},
    {"cuMemAlloc", CallRole::kOther},
    {"cuMemFree", CallRole::kOther},
    {"cuMemHostAlloc", CallRole::kOther},
    {"cuMemHostRegister", CallRole::kOther},
    {"cuMemHostUnregister", CallRole::kOther},
    {"cuMemCreate", CallRole::kOther},
    {"cuMemMap", CallRole::kOther},
    {"cuMemUnmap", CallRole::kOther},
    {"cuMemRelease", CallRole::kOther},
    {"cuCtxSynchronize", CallRole::kWaitForDevice},
    {"cuStreamSynchronize", CallRole::kWaitForStream},
    {"cuStreamWaitEvent", CallRole::kStreamWaits},
    {"cuStreamQuery", CallRole::kOther},
    {"cuEventRecord", CallRole::kRecordEvent},
    {"cuEventSynchronize", CallRole::kWaitForEvent},
    {"cuEventQuery", CallRole::kOther},
    {"cuCtxDestroy", CallRole::kEndsContext},
    {"cuDevicePrimaryCtxReset", CallRole::kEndsContext},
    {"cuDevicePrimaryCtxRelease", CallRole::kEndsContext},
    {"cuModuleLoad", CallRole::kOther},
    {"cuLibraryLoad", CallRole::kOther},
});

CallRole role_in(std::span<const Choice> choices, std::string_view name) {
  const auto found =
      std::ranges::find_if(choices, [&](const Choice& choice) { return name.starts_with(choice.prefix); });
  return found == choices.end() ? CallRole::kNotChosen : found->role;
}

}  // namespace

CallRole role_of_runtime_call(std::string_view name) { return role_in(kRuntimeCalls, name); }

CallRole role_of_driver_call(std::string_view name) { return role_in(kDriverCalls, name); }

bool is_per_thread(std::string_view name) {
  return name.find("_ptsz") != std::string_view::npos || name.find("_ptds") != std::string_view::npos;
}

std::string_view without_version(std::string_view name) {
  if (name.starts_with("__")) name.remove_prefix(2);
  const auto strip_digits = [&] {
    const std::size_t at = name.rfind("_v");
    if (at != std::string_view::npos && at + 2 < name.size() &&
        name.find_first_not_of("0123456789", at + 2) == std::string_view::npos)
      name = name.substr(0, at);
  };
  strip_digits();
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  strip_digits();
  return name;
}

}  // namespace telltale::capture
