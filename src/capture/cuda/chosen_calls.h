// Which functions of CUDA's API are worth a record, by their names: what starts device work, waits for it, gets memory
// for it, or orders it. They are few of the calls that a program makes.
#pragma once

#include <cstdint>
#include <string_view>

namespace telltale::capture {

enum class CallRole : std::uint8_t {
  kNotChosen,
  kOther,
  kLaunch,
  kBeginCapture,
  kEndCapture,
  kDestroyStream,  // which ends a capture as well
  kCloneGraph,     // makes nodes out of others
  kEndsContext,    // and takes along what CUPTI has not handed over
  // What waits are made of:
  kRecordEvent,    // on a stream
  kWaitForEvent,   // the host
  kWaitForStream,  // the host
  kWaitForDevice,  // the host
  kStreamWaits,    // for an event
};

// `name` as CUPTI has it, with the suffixes of versions: "cudaMemcpyAsync_v3020", "cuLaunchKernel_ptsz".
CallRole role_of_runtime_call(std::string_view name);
CallRole role_of_driver_call(std::string_view name);

// Whether its default stream is the thread's own.
bool is_per_thread(std::string_view name);

// The name that a program calls: "cudaMemcpyAsync", "cuLaunchKernel".
std::string_view without_version(std::string_view name);

}  // namespace telltale::capture
