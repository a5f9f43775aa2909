#include "analysis/outlying_steps.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace telltale {
namespace {

// The places of the outliers.
std::vector<std::size_t> outliers(const std::vector<Nanoseconds>& durations) {
  std::vector<std::size_t> places;
  const std::vector<bool> is_outlier = outliers_among(durations);
  for (std::size_t i = 0; i < is_outlier.size(); ++i)
    if (is_outlier[i]) places.push_back(i);
  return places;
}

using Places = std::vector<std::size_t>;

TEST(Outliers, are_a_first_step_that_warms_up) {
  EXPECT_EQ(outliers({519'380, 7'190, 6'580, 6'530, 6'550, 6'490, 6'560, 6'530, 6'520, 6'550}), Places{0});
  EXPECT_EQ(outliers({519, 6, 6}), Places{0});
}

TEST(Outliers, are_several_first_steps_up_to_a_third) {
  EXPECT_EQ(outliers({500, 300, 60, 10, 10, 10, 10, 10, 10}), (Places{0, 1, 2}));
  EXPECT_EQ(outliers({500, 300, 60, 10, 10, 10, 10, 10}), (Places{0, 1}));
}

TEST(Outliers, are_one_step_that_was_disturbed_and_one_that_was_cut) {
  EXPECT_EQ(outliers({10, 11, 10, 10, 80, 10, 11, 10}), Places{4});
  EXPECT_EQ(outliers({10, 11, 10, 10, 10, 2}), Places{5});
}

TEST(Outliers, are_not_what_comes_at_equal_distances) {
  EXPECT_EQ(outliers({10, 10, 10, 10, 50, 10, 10, 10, 10, 50, 10, 10, 10, 10, 50, 10}), Places{});
  EXPECT_EQ(outliers({50, 10, 10, 10, 50, 10, 10, 10}), Places{});
}

TEST(Outliers, are_not_what_comes_at_equal_distances_of_which_some_steps_are_not_recorded) {
  // Steps 4, 9 and 24 are long; 14 and 19 were not recorded.
  const std::vector<Nanoseconds> durations = {10, 10, 10, 10, 50, 10, 10, 10, 10, 50, 10, 10, 10, 50, 10};
  const std::vector<std::int64_t> numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23, 24, 25};
  EXPECT_EQ(outliers_among(durations, numbers), std::vector<bool>(15, false));
  // Were 14 recorded, it would not be long.
  const std::vector<std::int64_t> others = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 23, 24, 25};
  EXPECT_EQ(outliers_among(durations, others)[4], true);
  EXPECT_EQ(outliers(durations), (Places{4, 9, 13}));
}

TEST(Outliers, may_come_before_what_comes_at_equal_distances) {
  EXPECT_EQ(outliers({500, 10, 10, 10, 50, 10, 10, 10, 10, 50, 10, 10, 10, 10, 50, 10}), Places{0});
}

TEST(Outliers, are_two_that_come_at_no_equal_distance) {
  // At 4 and 6 of 20: a distance of 2 would give more of them.
  std::vector<Nanoseconds> durations(20, 10);
  durations[4] = durations[6] = 70;
  EXPECT_EQ(outliers(durations), (Places{4, 6}));
}

TEST(Outliers, are_never_more_than_a_fifth_but_at_the_beginning) {
  EXPECT_EQ(outliers({10, 10, 60, 10, 70, 10, 10, 50, 10, 10}), Places{});
}

TEST(Outliers, are_more_than_twice_or_less_than_half_the_median) {
  EXPECT_EQ(outliers({20, 10, 10, 10, 10, 10}), Places{});
  EXPECT_EQ(outliers({21, 10, 10, 10, 10, 10}), Places{0});
  EXPECT_EQ(outliers({10, 10, 10, 10, 10, 5}), Places{});
  EXPECT_EQ(outliers({10, 10, 10, 10, 10, 4}), Places{5});
}

// The median is 100 and the deviations' median 20: 5 standard deviations are 148.
TEST(Outliers, lie_far_from_the_usual_spread) {
  EXPECT_EQ(outliers({240, 80, 100, 120, 80, 120, 100}), Places{});
  EXPECT_EQ(outliers({250, 80, 100, 120, 80, 120, 100}), Places{0});
}

TEST(Outliers, are_unknown_among_fewer_than_three_steps) {
  EXPECT_EQ(outliers({500, 10}), Places{});
  EXPECT_EQ(outliers({500}), Places{});
  EXPECT_EQ(outliers({}), Places{});
}

TEST(Outliers, are_rare_among_steps_that_vary_by_chance) {
  std::mt19937 random(5);
  std::normal_distribution<double> duration(1e6, 1e5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Nanoseconds> durations;
    for (int step = 0; step < 20; ++step) durations.push_back(static_cast<Nanoseconds>(duration(random)));
    ASSERT_EQ(outliers(durations), Places{});
  }
}

}  // namespace
}  // namespace telltale
