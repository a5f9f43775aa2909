// Streams that are captured into graphs. While one is, nobody may wait for the device. For any thread; lock-free, since
// CUPTI's callbacks tell of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "capture/cuda/cupti_library.h"

namespace telltale::capture {

class CapturingStreams {
 public:
  // Threads that each capture their own default stream give the same handle for it.
  void add(CUstream stream) {
    if (put(kFree, key_of(stream))) count_.fetch_add(1, std::memory_order_relaxed);
  }

  // A capture has ended, or its stream. Nothing happens when nobody saw it begin.
  void remove(CUstream stream) {
    if (put(key_of(stream), kFree)) count_.fetch_sub(1, std::memory_order_relaxed);
  }

  // Nobody saw how they ended.
  void forget_all() {
    for (std::atomic<std::uintptr_t>& slot : slots_)
      if (slot.exchange(kFree, std::memory_order_relaxed) != kFree) count_.fetch_sub(1, std::memory_order_relaxed);
  }

  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

 private:
  static constexpr std::uintptr_t kFree = 0;
  // The null handle is a stream, too. Others are addresses, or small numbers for the default streams.
  static std::uintptr_t key_of(CUstream stream) { return reinterpret_cast<std::uintptr_t>(stream) + 1; }

  // Into the first slot that holds `old`; false when there is none.
  bool put(std::uintptr_t old, std::uintptr_t key) {
    for (std::atomic<std::uintptr_t>& slot : slots_) {
      std::uintptr_t expected = old;
      if (slot.compare_exchange_strong(expected, key, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  std::array<std::atomic<std::uintptr_t>, 64> slots_{};  // more at a time are not followed
  std::atomic<int> count_ = 0;
};

}  // namespace telltale::capture
