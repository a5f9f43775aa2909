// Work spread over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace telltale {

// Calls `work(i)` for each i below `count`, on up to `threads` threads, the caller's included; returns when all are
// done. `work` must not throw.
template <typename Work>
void parallel_for(std::size_t count, unsigned threads, Work work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t helpers = std::min<std::size_t>(count, std::max(1u, threads));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < helpers; ++i) others.emplace_back(run);
  run();
}

}  // namespace telltale
