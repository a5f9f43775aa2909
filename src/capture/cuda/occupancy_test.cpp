#include "capture/cuda/occupancy.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

constexpr MultiprocessorLimits kH200 = {.multiprocessors = 132,
                                        .warp_size = 32,
                                        .threads = 2048,
                                        .blocks = 32,
                                        .registers = 65536,
                                        .shared_memory = 233472,
                                        .reserved_shared_memory = 1024};

// What PyTorch's profiler wrote of these launches on an H200.
TEST(Occupancy, IsThatOfPyTorchsProfiler) {
  const Occupancy elementwise = occupancy_of({{262144, 1, 1}, {128, 1, 1}, 18, 0}, kH200);
  EXPECT_NEAR(elementwise.blocks_per_multiprocessor, 1985.939453, 1e-3);
  EXPECT_NEAR(elementwise.warps_per_multiprocessor, 7943.757812, 1e-3);
  EXPECT_EQ(elementwise.percent, 100);

  const Occupancy vectorized = occupancy_of({{65536, 1, 1}, {128, 1, 1}, 32, 0}, kH200);
  EXPECT_NEAR(vectorized.blocks_per_multiprocessor, 496.484863, 1e-3);
  EXPECT_EQ(vectorized.percent, 100);

  const Occupancy product = occupancy_of({{2, 64, 1}, {384, 1, 1}, 168, 213188}, kH200);
  EXPECT_NEAR(product.blocks_per_multiprocessor, 0.969697, 1e-6);
  EXPECT_NEAR(product.warps_per_multiprocessor, 11.636364, 1e-6);
}

TEST(Occupancy, IsLimitedByWhateverRunsOutFirst) {
  // Shared memory: one block of 12 warps, of 64.
  EXPECT_EQ(occupancy_of({{2000, 1, 1}, {384, 1, 1}, 168, 213188}, kH200).percent, 19);
  // Registers: 255 for each thread are 8192 for a warp (255 × 32, in steps of 256), of 16384 a partition: 2 × 4 warps.
  EXPECT_EQ(occupancy_of({{2000, 1, 1}, {128, 1, 1}, 255, 0}, kH200).percent, 13);
  // Blocks: 32 of one warp, of 64.
  EXPECT_EQ(occupancy_of({{90000, 1, 1}, {32, 1, 1}, 16, 0}, kH200).percent, 50);
  // The grid: one block of 4 warps for half of the multiprocessors.
  EXPECT_EQ(occupancy_of({{66, 1, 1}, {128, 1, 1}, 16, 0}, kH200).percent, 3);
}

TEST(Occupancy, IsNothingWhereTheDeviceIsNotKnown) {
  EXPECT_EQ(occupancy_of({{1, 1, 1}, {32, 1, 1}, 16, 0}, {}).percent, 0);
  EXPECT_EQ(occupancy_of({{1, 1, 1}, {0, 1, 1}, 16, 0}, kH200).percent, 0);
}

}  // namespace
}  // namespace telltale::capture
