#include "analysis/measured_step.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

std::optional<MeasuredStep> measured(std::string stretches) {
  Trace trace;
  trace.metadata.emplace_back(kUnrecordedSteps, "[" + std::move(stretches) + "]");
  return measured_step(trace);
}

TEST(MeasuredStep, is_unknown_without_unrecorded_steps_and_of_too_few) {
  EXPECT_FALSE(measured_step(Trace()));
  EXPECT_FALSE(measured(R"({"when":"before","first":2,"took_ns":[100,100]})"));
  // The first two of a program warm up.
  EXPECT_FALSE(measured(R"({"when":"before","first":0,"took_ns":[100,100,100,100]})"));
  EXPECT_FALSE(measured(R"({"when":"before","first":1,"took_ns":[100,100,100]})"));
}

TEST(MeasuredStep, is_the_mean_of_steps_that_do_not_warm_up) {
  const auto step = measured(R"({"when":"before","first":0,"took_ns":[9000,700,98,102,100,104,96]})");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->typical, 100);
  EXPECT_EQ(step->fastest, 96);
  EXPECT_EQ(step->slowest, 104);
  EXPECT_EQ(step->steps, 5);
  EXPECT_EQ(step->when, Unrecorded::kBefore);
}

// A host that runs ahead seems fast until the launch queue is full; long warm-ups end as well.
TEST(MeasuredStep, is_that_of_the_later_half) {
  const auto step = measured(R"({"when":"before","first":2,"took_ns":[10,10,10,10,10,10,100,100,100,100,100,100]})");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->typical, 100);
  EXPECT_EQ(step->steps, 6);
}

TEST(MeasuredStep, leaves_out_steps_far_off_but_not_one_of_two_kinds) {
  EXPECT_EQ(measured(R"({"when":"paused","took_ns":[500,100,101,99,100,1000]})")->steps, 4);
  EXPECT_EQ(measured(R"({"when":"paused","took_ns":[500,100,101,99,100,1000]})")->typical, 100);
  EXPECT_EQ(measured(R"({"when":"paused","took_ns":[500,100,300,100,300,100,300]})")->typical, 200);
}

TEST(MeasuredStep, is_of_steps_before_the_recording_then_of_pauses_then_of_those_after) {
  const std::string before = R"({"when":"before","first":2,"took_ns":[10,10,10,10,10]})";
  const std::string paused = R"({"when":"paused","took_ns":[99,20,20,20,20,20]})";
  const std::string after = R"({"when":"after","first":50,"took_ns":[99,30,30,30,30,30]})";
  EXPECT_EQ(measured(after + "," + paused + "," + before)->typical, 10);
  EXPECT_EQ(measured(after + "," + paused)->typical, 20);
  EXPECT_EQ(measured(after)->typical, 30);
  // Enough of them come before too few that are better.
  EXPECT_EQ(measured(R"({"when":"before","first":2,"took_ns":[10,10,10]},)" + after)->typical, 30);
  EXPECT_EQ(measured(R"({"when":"before","first":2,"took_ns":[10,10,10]})")->typical, 10);
}

std::optional<Nanoseconds> ahead(const std::string& stretches) {
  Trace trace;
  trace.metadata.emplace_back(kUnrecordedSteps, "[" + stretches + "]");
  return host_step_ahead(trace, *measured_step(trace));
}

// Steps of 100. By the host's clock the first of each pause does not count, nor the last before the queue is full: 30,
// 31 and 35 do.
TEST(MeasuredStep, tells_what_the_host_takes_that_is_ahead_when_a_pause_begins) {
  const std::string long_pause =
      R"({"when":"paused","took_ns":[100,100,100,100,100,100],"by_host_ns":[60,30,35,45,100,40]})";
  const std::string short_pause = R"({"when":"paused","took_ns":[100,100,100,100],"by_host_ns":[50,31,70,99]})";
  EXPECT_EQ(ahead(long_pause + "," + short_pause), 31);
  EXPECT_EQ(ahead(long_pause), std::nullopt) << "two steps";
}

TEST(MeasuredStep, tells_nothing_of_a_host_that_is_not_ahead) {
  EXPECT_EQ(ahead(R"({"when":"paused","took_ns":[99,99,99,99,99,99],"by_host_ns":[99,90,91,92,93,94]})"), std::nullopt);
  EXPECT_EQ(ahead(R"({"when":"paused","took_ns":[99,99,99,99,99,99]})"), std::nullopt);
  EXPECT_EQ(ahead(R"({"when":"paused","took_ns":[99,99,99,99,99,99],"by_host_ns":[]})"), std::nullopt);
  // Short steps and long ones, and the device does not fall behind.
  EXPECT_EQ(ahead(R"({"when":"paused","took_ns":[99,30,31,32,33,300],"by_host_ns":[99,30,31,32,33,299]})"),
            std::nullopt);
}

}  // namespace
}  // namespace telltale
