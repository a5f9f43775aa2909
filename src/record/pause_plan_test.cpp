#include "record/pause_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace telltale::record {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

using Times = std::function<std::int64_t(int step, bool is_recorded)>;

// 'r' recorded, '.' left out, one letter a step.
std::string planned(int steps, const Times& took) {
  PausePlan plan;
  std::string letters;
  bool is_recorded = true;
  for (int step = 0; step < steps; ++step) {
    letters += is_recorded ? 'r' : '.';
    is_recorded = plan.end_step(took(step, is_recorded));
  }
  return letters;
}

Times always(std::int64_t without, std::int64_t with) {
  return [=](int, bool is_recorded) { return is_recorded ? with : without; };
}

std::string r(std::size_t count) { return std::string(count, 'r'); }
std::string out(std::size_t count) { return std::string(count, '.'); }

TEST(RecentTimes, have_the_lower_middle_of_the_last_sixteen_as_median) {
  RecentTimes times;
  EXPECT_EQ(times.median(), 0);
  for (const int time : {9, 1, 5}) times.add(time);
  EXPECT_EQ(times.median(), 5);
  times.add(3);
  EXPECT_EQ(times.median(), 3);
  for (int time = 101; time <= 116; ++time) times.add(time);
  EXPECT_EQ(times.median(), 108);
}

TEST(PausePlan, records_a_program_that_it_does_not_slow_down_but_for_six_of_31_steps) {
  // Five steps of 10 ms after the first three are the 50 ms that the first stretch has to have.
  const std::string slot = r(25) + out(6);
  const std::string first_slot = r(8) + out(6) + r(11) + out(6);
  EXPECT_EQ(planned(155, always(10 * kMillisecond, 10 * kMillisecond)), first_slot + slot + slot + slot + slot);
}

TEST(PausePlan, records_25_of_155_steps_when_it_has_seen_many) {
  const std::string letters = planned(155 * 4, always(10 * kMillisecond, 10 * kMillisecond));
  const std::string later = r(25) + out(130);
  EXPECT_EQ(letters.substr(155), later + later + later);
}

TEST(PausePlan, begins_with_more_of_short_steps) {
  EXPECT_EQ(planned(40, always(6 * kMillisecond, 6 * kMillisecond)), r(13) + out(6) + r(6) + out(6) + r(9));
  EXPECT_EQ(planned(40, always(kMillisecond, kMillisecond)), r(23) + out(8) + r(9));
}

TEST(PausePlan, waits_until_the_time_that_passed_pays_for_more_steps) {
  // A recorded step costs 10 ms. Five of them are 50 ms, six more would be 110: a twentieth of 1,800 ms beside the
  // 20 ms that are free. The six take 60 ms unrecorded, and the first five took 100, so that 164 steps of 10 ms, from
  // the ninth on, must have passed: step 172. The next 31 steps begin with 186.
  const std::string letters = planned(217, always(10 * kMillisecond, 20 * kMillisecond));
  EXPECT_EQ(letters.substr(0, 186), r(8) + out(178));
  // Then 1,880 ms have passed. One more step behind k is paid for while 10 (6 + k) is at most 20 + (1,890 + 20 k) / 20:
  // while k is at most 54.5 / 9.
  EXPECT_EQ(letters.substr(186), r(7) + out(24));
}

TEST(PausePlan, lets_recording_cost_a_twentieth_and_what_is_free) {
  for (const double slowdown : {0.02, 0.06, 0.1, 0.5, 1.0, 3.0})
    for (const double milliseconds : {0.3, 3.0, 30.0, 3000.0}) {
      const auto without = static_cast<std::int64_t>(milliseconds * kMillisecond);
      const auto cost = static_cast<std::int64_t>(slowdown * static_cast<double>(without));
      const std::string letters = planned(3000, always(without, without + cost));
      std::int64_t passed = 0, spent = 0, spent_at_first = 0;
      for (int step = 3; step < 3000; ++step) {
        const bool is_recorded = letters[static_cast<std::size_t>(step)] == 'r';
        passed += without + (is_recorded ? cost : 0);
        spent += is_recorded ? cost : 0;
        if (letters.find('.') > static_cast<std::size_t>(step)) spent_at_first = spent;
        const bool ends_stretch = step + 1 == 3000 || letters[static_cast<std::size_t>(step) + 1] != 'r';
        if (!is_recorded || !ends_stretch) continue;
        EXPECT_LE(spent, std::max(spent_at_first, 20 * kMillisecond + passed / 20)) << slowdown << ' ' << step;
      }
      EXPECT_GE(std::ranges::count(letters, 'r'), 8 + 6) << slowdown << ' ' << milliseconds;
    }
}

std::string planned_with_changes(int steps, std::int64_t step, std::int64_t change) {
  PausePlan plan;
  std::string letters;
  bool is_recorded = true;
  for (int i = 0; i < steps; ++i) {
    letters += is_recorded ? 'r' : '.';
    const bool is_next_recorded = plan.end_step(step);
    if (is_next_recorded != is_recorded) plan.add_change(change);
    is_recorded = is_next_recorded;
  }
  return letters;
}

// Steps of 4 ms cost nothing, but to stop and to start again takes 10 ms. The first stretch has twenty steps behind the
// three that do not count: at 13 they have taken 40 ms, not 50, so that it ends at 23. At 31, the next place, one
// change has cost 10 ms, and two more would make 30: more than the 20 ms that are free and a twentieth of 28 + 6 steps
// and of the change, which is 7.3 ms. At 62 that is 59 + 6 steps: 20 + 13.5 ms.
TEST(PausePlan, counts_what_it_takes_to_stop_and_to_start_again) {
  EXPECT_EQ(planned_with_changes(93, 4 * kMillisecond, 10 * kMillisecond), r(23) + out(39) + r(25) + out(6));
}

// A step is launched in 0.2 ms, and the device is 400 ms behind when the recorder stops. Of these, 10 ms count: with
// two more changes 30, and 20 ms and a twentieth of 400 ms may be spent.
TEST(PausePlan, counts_no_time_in_which_a_device_works) {
  EXPECT_EQ(planned_with_changes(40, kMillisecond / 5, 400 * kMillisecond), r(23) + out(8) + r(9));
}

TEST(PausePlan, single_slow_steps_change_nothing) {
  const Times took = [](int step, bool is_recorded) {
    return (step == 5 || step == 16 ? 500 : is_recorded ? 11 : 10) * kMillisecond;
  };
  EXPECT_EQ(planned(155, took), planned(155, always(10 * kMillisecond, 10 * kMillisecond)));
}

TEST(PausePlan, makes_no_pause_longer_than_it_says) {
  const std::string letters = planned(20'000, always(kMillisecond, 10'000 * kMillisecond));
  std::size_t longest = 0, length = 0;
  for (const char letter : letters) longest = std::max(longest, length = letter == '.' ? length + 1 : 0);
  EXPECT_LE(longest, PausePlan::kLongestPause);
  EXPECT_GT(longest, 155u);
}

TEST(PausePlan, sees_beginnings_of_epochs_as_often_as_other_steps) {
  const std::string letters = planned(62'000, always(10 * kMillisecond, 10 * kMillisecond));
  for (const int epoch : {10, 50, 60, 100, 120, 128, 196, 240, 391, 500}) {
    int beginnings = 0, recorded = 0;
    for (int step = 310; step < 62'000; step += 1) {
      if (step % epoch != 0) continue;
      ++beginnings;
      recorded += letters[static_cast<std::size_t>(step)] == 'r' ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(recorded) / beginnings, 25.0 / 155, 0.06) << epoch;
  }
}

}  // namespace
}  // namespace telltale::record
