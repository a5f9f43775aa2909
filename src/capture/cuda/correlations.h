// Numbers that tie device work to the call that asked for it. CUPTI's have 32 bits and begin anew each time it is
// attached; ours are unique as long as the process lives.
#pragma once

#include <atomic>
#include <cstdint>

namespace telltale::capture {

class Correlations {
 public:
  // CUPTI counts from 1 again. Nothing of before is asked for any more.
  void begin_anew() {
    origin_ = latest_.load(std::memory_order_relaxed) + kStride + 1;  // behind the newest, wherever that is
    latest_.store(origin_, std::memory_order_relaxed);
  }

  // Of those that CUPTI gave out since, as long as fewer than two thousand million lie between the oldest and the
  // newest that are asked for. For any thread.
  std::uint64_t unwrapped(std::uint32_t id) {
    const std::uint64_t latest = latest_.load(std::memory_order_relaxed);
    const auto ahead = static_cast<std::int32_t>(id - static_cast<std::uint32_t>(latest - origin_));
    const std::uint64_t result = latest + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
    if (ahead > kStride) latest_.store(result, std::memory_order_relaxed);
    return result;
  }

  // Behind all that have been asked for. Whoever calls begin_anew() next tells where the rest goes on.
  void note_newest(std::uint32_t id) {
    const std::uint64_t result = unwrapped(id);
    if (result > latest_.load(std::memory_order_relaxed)) latest_.store(result, std::memory_order_relaxed);
  }

 private:
  // Threads share `latest_`: few of the numbers move it.
  static constexpr std::int32_t kStride = 1 << 20;

  std::uint64_t origin_ = 0;               // what CUPTI's 0 stands for
  std::atomic<std::uint64_t> latest_ = 0;  // one that is not far behind the newest
};

}  // namespace telltale::capture
