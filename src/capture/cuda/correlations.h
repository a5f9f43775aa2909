// Numbers that tie device work to the call that asked for it. CUPTI's have 32 bits and begin anew each time it is
// attached; ours are unique as long as the process lives.
#pragma once

#include <atomic>
#include <cstdint>

namespace telltale::capture {

class Correlations {
 public:
  // CUPTI counts from 1 again. Who still asks for one of before gets a wrong number, and sees all that was written
  // before this.
  void begin_anew() {
    const std::uint64_t origin = latest_.load(std::memory_order_relaxed) + kStride + 1;  // behind the newest
    origin_.store(origin, std::memory_order_release);
    latest_.store(origin, std::memory_order_release);
  }

  // Of those that CUPTI gave out since, as long as fewer than two thousand million lie between the oldest and the
  // newest that are asked for. For any thread.
  std::uint64_t unwrapped(std::uint32_t id) {
    const std::uint64_t latest = latest_.load(std::memory_order_acquire);
    const std::uint64_t origin = origin_.load(std::memory_order_acquire);
    const auto ahead = static_cast<std::int32_t>(id - static_cast<std::uint32_t>(latest - origin));
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

  std::atomic<std::uint64_t> origin_ = 0;  // what CUPTI's 0 stands for
  std::atomic<std::uint64_t> latest_ = 0;  // one that is not far behind the newest
};

}  // namespace telltale::capture
