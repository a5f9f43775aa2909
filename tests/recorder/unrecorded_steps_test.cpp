// Steps that are left unrecorded on purpose, and what files tell of them.
#include "trace/unrecorded_steps.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <vector>

#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

class UnrecordedStepsTest : public RecordingTest {
 protected:
  static void run_steps(int count) {
    for (int i = 0; i < count; ++i) {
      {
        TELLTALE_SCOPE("work");
      }
      ASSERT_EQ(telltale_step(), TELLTALE_STATUS_OK) << telltale_error_text();
    }
  }

  telltale_options with_pauses() {
    telltale_options options = this->options();
    options.pauses = 1;
    options.user = &toggles_;
    options.on_toggle = [](int is_recording, void* user) {
      static_cast<std::vector<int>*>(user)->push_back(is_recording);
      EXPECT_TRUE(telltale_is_recording());  // before a pause, too: what is open can still be ended
    };
    return options;
  }

  std::vector<int> toggles_;
};

// Which steps they are depends on what they take: see pause_plan_test.cpp.
TEST_F(UnrecordedStepsTest, a_recording_of_everything_tells_of_steps_that_it_leaves_out) {
  const telltale_options options = with_pauses();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  run_steps(400);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "work"), trace.steps.size());
  EXPECT_EQ(trace.steps.size() + count_of(trace, kUnrecordedStep), 400u);
  std::vector<Interval> gaps;  // between recorded steps whose numbers do not follow each other
  for (std::size_t i = 1; i < trace.steps.size(); ++i) {
    const Step &before = trace.steps[i - 1], &after = trace.steps[i];
    if (after.index != before.index + 1) gaps.push_back({before.start + before.duration, after.start});
  }
  ASSERT_GE(gaps.size(), 2u);
  auto found = pauses(trace);
  const bool ends_in_pause = found.size() == gaps.size() + 1;
  if (ends_in_pause) found.pop_back();
  EXPECT_EQ(found, gaps);
  std::vector<int> toggles;
  for (std::size_t i = 0; i < gaps.size(); ++i) toggles.insert(toggles.end(), {0, 1});
  if (ends_in_pause) toggles.push_back(0);
  EXPECT_EQ(toggles_, toggles);
}

TEST_F(UnrecordedStepsTest, a_recording_that_ends_in_a_pause_tells_of_it) {
  const telltale_options options = with_pauses();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  int steps = 0;
  for (; toggles_.empty(); ++steps) run_steps(1);
  run_steps(4);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(trace.steps.size(), static_cast<std::size_t>(steps));
  EXPECT_EQ(count_of(trace, kUnrecordedStep), 4u);
}

TEST_F(UnrecordedStepsTest, without_pauses_all_steps_are_recorded) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  run_steps(40);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(trace.steps.size(), 40u);
  EXPECT_TRUE(unrecorded_steps(trace).empty());
}

TEST_F(UnrecordedStepsTest, a_cycle_tells_of_steps_before_and_after_it) {
  telltale_options options = with_pauses();
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.wait = 3;
  schedule.warmup = 1;
  schedule.active = 2;
  schedule.repeat = 1;
  options.schedule = &schedule;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  run_steps(40);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "work"), 2u);
  EXPECT_EQ(toggles_, (std::vector{1, 0}));
  const auto stretches = unrecorded_steps(trace);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].when, Unrecorded::kBefore);
  EXPECT_EQ(stretches[0].first, 0);
  EXPECT_EQ(stretches[0].took.size(), 4u);
  EXPECT_EQ(stretches[1].when, Unrecorded::kAfter);
  EXPECT_EQ(stretches[1].first, 6);
  EXPECT_EQ(stretches[1].took.size(), 21u);
}

// What feeds a recording may take its time to start and to stop.
constexpr Nanoseconds kToggleTime = 60'000'000;

Nanoseconds now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// How many times, each of them of kToggleTime, do not fit into what passed besides the steps. 0 unless a step's time
// has some of it.
double toggles_in_steps(std::size_t toggles, const std::vector<Nanoseconds>& steps, Nanoseconds passed) {
  const Nanoseconds in_steps = std::accumulate(steps.begin(), steps.end(), Nanoseconds{0});
  const Nanoseconds too_long = in_steps + static_cast<Nanoseconds>(toggles) * kToggleTime - passed;
  return static_cast<double>(std::max(Nanoseconds{0}, too_long)) / static_cast<double>(kToggleTime);
}

void take_time(void* user, int what) {
  static_cast<std::vector<int>*>(user)->push_back(what);
  TELLTALE_SCOPE("toggle");
  usleep(kToggleTime / 1000);
}

TEST_F(UnrecordedStepsTest, around_a_pause_take_no_longer_for_what_starts_and_stops) {
  telltale_options options = with_pauses();
  options.on_toggle = [](int is_recording, void* user) { take_time(user, is_recording); };
  const Nanoseconds began = now_ns();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  for (int steps = 0; toggles_.size() < 2 && steps < 2000; ++steps) run_steps(1);
  run_steps(1);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Nanoseconds passed = now_ns() - began;
  ASSERT_EQ(toggles_, (std::vector{0, 1}));
  const Trace trace = read_recording(path());
  ASSERT_EQ(count_of(trace, "toggle"), 2u) << "both are recorded";
  std::vector<Nanoseconds> took;
  for (const Step& step : trace.steps) took.push_back(step.duration);
  for (const UnrecordedStretch& stretch : unrecorded_steps(trace))
    took.insert(took.end(), stretch.took.begin(), stretch.took.end());
  EXPECT_EQ(toggles_in_steps(2, took, passed), 0);
}

TEST_F(UnrecordedStepsTest, around_a_cycle_take_no_longer_for_what_warms_up_starts_and_stops) {
  telltale_options options = with_pauses();
  options.on_toggle = [](int is_recording, void* user) { take_time(user, is_recording); };
  options.on_warmup = [](void* user) {
    EXPECT_FALSE(telltale_is_recording());
    take_time(user, 2);
  };
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.wait = 2;
  schedule.warmup = 3;
  schedule.active = 2;
  schedule.repeat = 2;
  schedule.skip_first_wait = 1;
  options.schedule = &schedule;
  const Nanoseconds began = now_ns();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  EXPECT_EQ(toggles_, std::vector{2}) << "a session that begins with its warm-up says so, too";
  run_steps(14);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Nanoseconds passed = now_ns() - began;
  EXPECT_EQ(toggles_, (std::vector{2, 1, 0, 2, 1, 0}));
  std::vector<Nanoseconds> took;
  for (const char* name : {"run.tell", "run.1.tell"}) {
    const Trace trace = read_recording(path(name));
    // What starts and what stops; while it warms up, nothing is recorded.
    EXPECT_EQ(count_of(trace, "toggle"), 2u);
    ASSERT_EQ(trace.steps.size(), 2u);
    for (const Step& step : trace.steps) took.push_back(step.duration);
  }
  for (const UnrecordedStretch& stretch : unrecorded_steps(read_recording(path("run.1.tell"))))
    took.insert(took.end(), stretch.took.begin(), stretch.took.end());
  EXPECT_EQ(took.size(), 14u - 2 * 3) << "what warms up is at work in the steps for that";
  EXPECT_EQ(toggles_in_steps(toggles_.size(), took, passed), 0);
}

TEST_F(UnrecordedStepsTest, a_cycle_that_follows_at_once_ends_the_wait_for_more_steps) {
  telltale_options options = with_pauses();
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.wait = 2;
  schedule.active = 1;
  schedule.repeat = 2;
  options.schedule = &schedule;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  run_steps(6);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const auto first = unrecorded_steps(read_recording(path()));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[1].when, Unrecorded::kAfter);
  EXPECT_EQ(first[1].took.size(), 2u);
  const auto second = unrecorded_steps(read_recording(path("run.1.tell")));
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[1].when, Unrecorded::kBefore);
  EXPECT_EQ(second[1].first, 3);
}

}  // namespace
}  // namespace telltale
