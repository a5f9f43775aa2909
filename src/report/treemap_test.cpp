#include "report/treemap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace telltale {
namespace {

// The example of the paper: 6, 6, 4, 3, 2, 2 and 1 in 6 by 4.
TEST(Treemap, places_the_example_of_its_inventors) {
  const std::vector<double> amounts = {6, 6, 4, 3, 2, 2, 1};
  const std::vector<Tile> tiles = treemap(amounts, 6, 4);
  const double expected[][4] = {{0, 0, 3, 2}, {0, 2, 3, 2}};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_DOUBLE_EQ(tiles[i].x, expected[i][0]);
    EXPECT_DOUBLE_EQ(tiles[i].y, expected[i][1]);
    EXPECT_DOUBLE_EQ(tiles[i].width, expected[i][2]);
    EXPECT_DOUBLE_EQ(tiles[i].height, expected[i][3]);
  }
  // 4 and 3 beside one another on top of the rest: 7/3 high.
  EXPECT_DOUBLE_EQ(tiles[2].height, 7.0 / 3);
  EXPECT_DOUBLE_EQ(tiles[2].width, 12.0 / 7);
  EXPECT_DOUBLE_EQ(tiles[3].x, 3 + 12.0 / 7);
}

TEST(Treemap, fills_its_room_with_areas_as_large_as_the_amounts) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> amounts(1 + random() % 40);
    for (double& amount : amounts) amount = random() % 5 == 0 ? 0 : static_cast<double>(random() % 100'000);
    amounts.front() += 1;
    std::ranges::sort(amounts, std::greater{});
    const double all = std::accumulate(amounts.begin(), amounts.end(), 0.0);
    const std::vector<Tile> tiles = treemap(amounts, 960, 240);
    ASSERT_EQ(tiles.size(), amounts.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      EXPECT_NEAR(tiles[i].width * tiles[i].height, amounts[i] / all * 960 * 240, 1e-6 * 960 * 240);
      EXPECT_GE(tiles[i].x, -1e-6);
      EXPECT_GE(tiles[i].y, -1e-6);
      EXPECT_LE(tiles[i].x + tiles[i].width, 960 + 1e-6);
      EXPECT_LE(tiles[i].y + tiles[i].height, 240 + 1e-6);
      for (std::size_t other = 0; other < i; ++other) {
        const double wide = std::min(tiles[i].x + tiles[i].width, tiles[other].x + tiles[other].width) -
                            std::max(tiles[i].x, tiles[other].x);
        const double high = std::min(tiles[i].y + tiles[i].height, tiles[other].y + tiles[other].height) -
                            std::max(tiles[i].y, tiles[other].y);
        EXPECT_FALSE(wide > 1e-6 && high > 1e-6) << round << ' ' << other << ' ' << i;
      }
    }
  }
}

TEST(Treemap, of_equal_amounts_has_no_slices) {
  for (const Tile& tile : treemap(std::vector<double>(30, 7.0), 960, 240))
    EXPECT_LT(std::max(tile.width / tile.height, tile.height / tile.width), 3);
}

TEST(Treemap, of_nothing_is_empty) {
  EXPECT_TRUE(treemap({}, 960, 240).empty());
  EXPECT_EQ(treemap(std::vector<double>{0, 0}, 960, 240)[1].width, 0);
}

}  // namespace
}  // namespace telltale
