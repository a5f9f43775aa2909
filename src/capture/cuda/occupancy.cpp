#include "capture/cuda/occupancy.h"

#include <algorithm>
#include <cmath>

namespace telltale::capture {
namespace {

// Registers are given to whole warps, in steps; a multiprocessor has four partitions. So since Kepler.
constexpr std::int64_t kRegisterStep = 256;
constexpr std::int64_t kPartitions = 4;
constexpr std::int64_t kSharedMemoryStep = 128;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

std::int64_t blocks_that_fit(const LaunchShape& launch, const MultiprocessorLimits& limits, std::int64_t warps) {
  std::int64_t blocks = limits.blocks;
  blocks = std::min<std::int64_t>(blocks, limits.threads / limits.warp_size / warps);
  if (launch.registers_per_thread > 0 && limits.registers > 0) {
    const std::int64_t for_a_warp = rounded_up(launch.registers_per_thread * limits.warp_size, kRegisterStep);
    const std::int64_t fit = limits.registers / kPartitions / for_a_warp * kPartitions;
    blocks = std::min(blocks, fit / warps);
  }
  const std::int64_t shared = rounded_up(launch.shared_memory, kSharedMemoryStep) + limits.reserved_shared_memory;
  if (shared > 0 && limits.shared_memory > 0) blocks = std::min(blocks, limits.shared_memory / shared);
  return blocks;
}

}  // namespace

Occupancy occupancy_of(const LaunchShape& launch, const MultiprocessorLimits& limits) {
  Occupancy result;
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (limits.multiprocessors <= 0 || limits.warp_size <= 0 || limits.threads <= 0 || threads <= 0) return result;
  const std::int64_t warps = (threads + limits.warp_size - 1) / limits.warp_size;
  const auto blocks =
      static_cast<double>(launch.grid[0]) * static_cast<double>(launch.grid[1]) * static_cast<double>(launch.grid[2]);
  result.blocks_per_multiprocessor = blocks / limits.multiprocessors;
  result.warps_per_multiprocessor = result.blocks_per_multiprocessor * static_cast<double>(threads) / limits.warp_size;
  const double used =
      std::min(result.blocks_per_multiprocessor, static_cast<double>(blocks_that_fit(launch, limits, warps)));
  result.percent = std::llround(used * static_cast<double>(warps * limits.warp_size) / limits.threads * 100);
  result.percent = std::min<std::int64_t>(result.percent, 100);
  return result;
}

}  // namespace telltale::capture
