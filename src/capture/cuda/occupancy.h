// How much of a multiprocessor a launch can use.
#pragma once

#include <cstdint>

namespace telltale::capture {

// Of a device, as its driver tells them.
struct MultiprocessorLimits {
  int multiprocessors = 0;
  int warp_size = 32;
  int threads = 0;
  int blocks = 0;
  int registers = 0;
  int shared_memory = 0;
  int reserved_shared_memory = 0;  // of each block
};

struct LaunchShape {
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_memory = 0;
};

struct Occupancy {
  double blocks_per_multiprocessor = 0;  // of the grid
  double warps_per_multiprocessor = 0;
  std::int64_t percent = 0;  // of a multiprocessor's threads: what fits and what the grid has, whichever is less
};

Occupancy occupancy_of(const LaunchShape& launch, const MultiprocessorLimits& limits);

}  // namespace telltale::capture
