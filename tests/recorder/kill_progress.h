// How far a program had come when it was killed: lies in a file that both map.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace telltale {

inline constexpr int kKillThreads = 4;

struct ThreadProgress {
  std::atomic<std::int64_t> emitted;  // events that were emitted for sure
  std::atomic<std::int64_t> flushed;  // of those, how many were when telltale_flush() was called, which has returned
};

struct Progress {
  std::atomic<int> is_running;
  std::array<ThreadProgress, kKillThreads> threads;
};

inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace telltale
