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

TEST_F(UnrecordedStepsTest, a_recording_of_everything_leaves_out_six_of_the_first_120_steps_and_most_later_ones) {
  const telltale_options options = with_pauses();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  run_steps(250);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(trace.steps.size(), 250u - 6u - 96u);
  EXPECT_EQ(count_of(trace, "work"), 250u - 6u - 96u);
  EXPECT_EQ(count_of(trace, kUnrecordedStep), 6u + 96u);
  EXPECT_EQ(toggles_, (std::vector{0, 1, 0, 1}));
  const auto found = pauses(trace);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].begin, trace.steps[21].start + trace.steps[21].duration);
  EXPECT_EQ(found[0].end, trace.steps[22].start);
  EXPECT_EQ(trace.steps[22].index, 28);
  EXPECT_EQ(found[1].begin, trace.steps[137].start + trace.steps[137].duration);  // of the 144th
  EXPECT_EQ(trace.steps[138].index, 240);
}

TEST_F(UnrecordedStepsTest, a_recording_that_ends_in_a_pause_tells_of_it) {
  const telltale_options options = with_pauses();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  run_steps(26);
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  const Trace trace = read_recording(path());
  EXPECT_EQ(trace.steps.size(), 22u);
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
