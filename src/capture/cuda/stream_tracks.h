// The lines of time that device work stands on: one for each stream of each device.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace telltale::capture {

// For any thread.
class StreamTracks {
 public:
  static constexpr std::uint32_t kNoStream = 0xffffffff;  // CUPTI's: what concerns a whole device

  // 0 when the recorder has no room for it.
  std::uint32_t of(std::uint32_t device, std::uint32_t stream);
  std::uint32_t overhead() { return of_no_device(overhead_, "CUPTI overhead"); }
  std::uint32_t memory_pools() { return of_no_device(memory_pools_, "CUDA memory pools"); }

 private:
  std::uint32_t of_no_device(std::uint32_t& track, const char* name);

  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tracks_;
  std::uint32_t overhead_ = 0, memory_pools_ = 0;
};

}  // namespace telltale::capture
