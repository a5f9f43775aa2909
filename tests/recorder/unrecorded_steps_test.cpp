// Steps that are left unrecorded on purpose, and what files tell of them.
#include "trace/unrecorded_steps.h"

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
