#include "advise/models/worker_model.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(WorkerModel, busy_workers_are_slower_than_ones_that_wait) {
  BatchMaking making{.rest = 10, .alone = 1300};
  EXPECT_EQ(making.step_with(1), 1300);
  EXPECT_EQ(making.step_with(2), 1000);  // 1300 / (2 x 0.65)
  EXPECT_EQ(making.step_with(8), 260);   // five times as fast, at most
  making.processor_share = 0;
  EXPECT_EQ(making.step_with(2), 650);
  making.processor_share = 0.5;
  EXPECT_EQ(making.step_with(2), 825);  // 650 / 1.3 + 650 / 2
}

TEST(WorkerModel, a_step_is_never_shorter_than_the_rest) {
  const BatchMaking making{.rest = 400, .alone = 1300};
  EXPECT_EQ(making.step_with(8), 400);
  EXPECT_EQ(making.best_workers(8), 5);  // 1300 / 3.25; four need 500
}

TEST(WorkerModel, the_work_takes_its_processors) {
  // Two threads compute for 1000, and batches take one for 1000: three processors' work for two.
  const BatchMaking making{.rest = 1000, .alone = 1000, .other_work = 2000, .processors = 2};
  EXPECT_EQ(making.step_with(1), 1500);
  EXPECT_EQ(making.step_with(8), 1500);
  EXPECT_EQ(making.best_workers(2), 1);
  EXPECT_TRUE(making.is_short_of_processors(1));
  // With the rest on one, nothing is short.
  const BatchMaking easy{.rest = 1000, .alone = 1000, .other_work = 1000, .processors = 2};
  EXPECT_EQ(easy.step_with(1), 1000);
  EXPECT_FALSE(easy.is_short_of_processors(1));
}

}  // namespace
}  // namespace telltale
