#include "record/step_times.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale::record {
namespace {

TEST(StepTimes, say_nothing_without_steps) {
  StepTimes times;
  times.describe_for(0);
  EXPECT_STREQ(times.text(), "");
}

TEST(StepTimes, are_stretches_of_consecutive_steps_before_and_after_the_recorded_ones) {
  StepTimes times;
  for (const int number : {0, 1, 4, 7, 8}) times.add(number, 100 + number);
  times.describe_for(5);
  EXPECT_STREQ(times.text(),
               R"([{"when":"before","first":0,"took_ns":[100,101]},{"when":"before","first":4,"took_ns":[104]},)"
               R"({"when":"after","first":7,"took_ns":[107,108]}])");
  EXPECT_EQ(times.count_from(5), 2u);
  times.clear();
  times.describe_for(5);
  EXPECT_STREQ(times.text(), "");
}

TEST(StepTimes, are_those_of_the_newest_steps) {
  StepTimes times;
  for (int number = 0; number < 100; ++number) times.add(number, 1);
  times.describe_for(100);
  EXPECT_EQ(std::string(times.text()).substr(0, 34), R"([{"when":"before","first":36,"took)");
  EXPECT_EQ(times.count_from(0), 64u);
}

TEST(StepTimes, are_whole_json_however_many_stretches_there_are) {
  StepTimes times;
  for (int number = 0; number < 128; number += 2) times.add(number, 123'456'789'012'345);
  times.describe_for(1000);
  const std::string text = times.text();
  EXPECT_LT(text.size(), 4000u);
  EXPECT_TRUE(text.ends_with("]}]"));
}

}  // namespace
}  // namespace telltale::record
