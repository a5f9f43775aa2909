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
  std::uint32_t overhead();

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tracks_;
  std::uint32_t overhead_ = 0;
};

}  // namespace telltale::capture
