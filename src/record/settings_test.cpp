#include "record/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace telltale::record {
namespace {

// 'n' none, 'w' warmup, 'r' record, 's' record and save, one letter a step.
std::string actions(telltale_schedule schedule, int steps) {
  schedule.size = sizeof schedule;
  std::string letters;
  for (int step = 0; step < steps; ++step)
    letters += "nwrs"[telltale_schedule_action(&schedule, static_cast<std::uint64_t>(step))];
  return letters;
}

TEST(Schedule, follows_torch_in_the_documented_example) {
  // torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
  EXPECT_EQ(actions({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}, 11), "nwrsnwrsnnn");
}

TEST(Schedule, skips_the_first_steps_once) {
  EXPECT_EQ(actions({.skip_first = 3, .wait = 1, .warmup = 1, .active = 1, .repeat = 0}, 10), "nnnnwsnwsn");
}

TEST(Schedule, saves_every_step_when_one_is_active_and_nothing_else_is) {
  EXPECT_EQ(actions({.active = 1}, 4), "ssss");
}

TEST(Schedule, records_everything_without_one_and_nothing_without_an_active_step) {
  EXPECT_EQ(telltale_schedule_action(nullptr, 7), TELLTALE_ACTION_RECORD);
  EXPECT_EQ(actions({}, 4), "nnnn");
}

TEST(Schedule, of_an_older_program_is_as_if_it_did_not_ask_for_what_it_does_not_know) {
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.wait = schedule.active = schedule.skip_first_wait = 1;
  EXPECT_EQ(telltale_schedule_action(&schedule, 0), TELLTALE_ACTION_RECORD_AND_SAVE);
  schedule.size = offsetof(telltale_schedule, skip_first_wait);
  EXPECT_EQ(telltale_schedule_action(&schedule, 0), TELLTALE_ACTION_NONE);
}

TEST(Schedule, leaves_out_the_first_wait_on_request) {
  EXPECT_EQ(actions({.skip_first = 1, .wait = 2, .warmup = 1, .active = 1, .repeat = 0, .skip_first_wait = 1}, 8),
            "nwsnnwsn");
}

TEST(Schedule, agrees_with_cycles_written_out_one_by_one) {
  for (unsigned skip = 0; skip < 3; ++skip)
    for (unsigned wait = 0; wait < 3; ++wait)
      for (unsigned warmup = 0; warmup < 3; ++warmup)
        for (unsigned active = 1; active < 4; ++active)
          for (unsigned repeat = 0; repeat < 3; ++repeat) {
            std::string expected(skip, 'n');
            for (unsigned cycle = 0; cycle < (repeat == 0 ? 20 : repeat); ++cycle)
              expected += std::string(wait, 'n') + std::string(warmup, 'w') + std::string(active - 1, 'r') + 's';
            expected.resize(20, 'n');
            EXPECT_EQ(actions({0, skip, wait, warmup, active, repeat, 0}, 20), expected);
          }
}

std::string expanded(const char* pattern, unsigned number) {
  char path[kMaxPath];
  return expand_path(pattern, number, path) ? path : "too long";
}

TEST(Path, gets_a_number_before_its_extension_from_the_second_file_on) {
  EXPECT_EQ(expanded("out/run.tell", 0), "out/run.tell");
  EXPECT_EQ(expanded("out/run.tell", 1), "out/run.1.tell");
  EXPECT_EQ(expanded("out.d/run", 12), "out.d/run.12");
  EXPECT_EQ(expanded(".hidden", 1), ".hidden.1");
}

TEST(Path, has_the_pid_and_the_number_where_it_asks_for_them) {
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(expanded("run.%p.tell", 0), "run." + pid + ".tell");
  EXPECT_EQ(expanded("run.%c.tell", 0), "run.0.tell");
  EXPECT_EQ(expanded("%p-%c", 7), pid + "-7");
  EXPECT_EQ(expanded("100%.tell", 0), "100%.tell");
}

TEST(Path, that_does_not_fit_is_refused) {
  EXPECT_EQ(expanded(std::string(kMaxPath, 'x').c_str(), 0), "too long");
  EXPECT_EQ(expanded(std::string(kMaxPath - 2, 'x').c_str(), 1), "too long");
}

TEST(Path, of_a_child_has_its_pid_once) {
  char path[kMaxPath] = "run.tell";
  ASSERT_TRUE(insert_pid(path));
  EXPECT_EQ(std::string(path), "run." + std::to_string(getpid()) + ".tell");
  char pattern[kMaxPath] = "run.%p.tell";
  ASSERT_TRUE(insert_pid(pattern));
  EXPECT_STREQ(pattern, "run.%p.tell");
}

constexpr telltale_schedule kWithoutActive = {.size = sizeof(telltale_schedule), .wait = 1};
constexpr telltale_schedule kWithoutSize = {.active = 1};

TEST(Options, that_make_no_sense_are_refused_with_a_sentence) {
  struct Case {
    void (*spoil)(telltale_options&);
    const char* sentence;
  };
  const std::vector<Case> cases = {
      {[](telltale_options& o) { o.path = nullptr; }, "the options name no path"},
      {[](telltale_options& o) { o.memory_limit = 1000; }, "the memory limit is below 16 KiB"},
      {[](telltale_options& o) { o.policy = 9; }, "there is no such policy"},
      {[](telltale_options& o) { o.flush_ms = 0; }, "flush_ms is not between 1 and 60000"},
      {[](telltale_options& o) { o.fork_mode = 9; }, "there is no such fork mode"},
      {[](telltale_options& o) { o.schedule = &kWithoutActive; }, "a schedule needs at least one active step"},
      {[](telltale_options& o) { o.schedule = &kWithoutSize; },
       "the size of the options or of the schedule is not set: see telltale_default_options()"},
      {[](telltale_options& o) { o.size = 0; },
       "the size of the options or of the schedule is not set: see telltale_default_options()"},
      {[](telltale_options& o) { o.flight_seconds = -1; }, "flight_seconds is not a duration"},
      {[](telltale_options& o) { o.flight_signal = 1000; }, "there is no such signal"},
  };
  for (const Case& wrong : cases) {
    telltale_options options;
    telltale_default_options(&options, sizeof options);
    wrong.spoil(options);
    Settings settings;
    EXPECT_STREQ(take_options(options, settings), wrong.sentence);
  }
}

TEST(Options, of_an_older_program_keep_the_defaults_of_what_it_does_not_know) {
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.size = offsetof(telltale_options, flush_ms);
  options.flush_ms = 7;  // beyond what that program's struct has
  Settings settings;
  ASSERT_EQ(take_options(options, settings), nullptr);
  EXPECT_EQ(settings.flush_ns, 25'000'000);
}

// What the struct looks like in a program that was compiled with a header of later days.
struct NewerOptions {
  telltale_options known;
  std::uint64_t new_option;
};

TEST(Options, of_a_newer_program_are_taken_unless_it_asks_for_what_is_not_known) {
  NewerOptions options;
  std::memset(&options, 0xff, sizeof options);
  telltale_default_options(&options.known, sizeof options);
  EXPECT_EQ(options.new_option, 0u);
  Settings settings;
  EXPECT_EQ(take_options(options.known, settings), nullptr);
  options.new_option = 1;
  EXPECT_STREQ(take_options(options.known, settings),
               "the program asks for what only a newer version of the recorder knows");
}

TEST(Options, bring_their_schedule_along) {
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  Settings settings;
  ASSERT_EQ(take_options(options, settings), nullptr);
  EXPECT_EQ(settings.schedule_or_null(), nullptr);
  telltale_schedule schedule = {.size = sizeof(telltale_schedule), .wait = 2, .active = 3};
  options.schedule = &schedule;
  ASSERT_EQ(take_options(options, settings), nullptr);
  schedule.active = 9;  // it is a copy that counts
  ASSERT_NE(settings.schedule_or_null(), nullptr);
  EXPECT_EQ(settings.schedule_or_null()->wait, 2u);
  EXPECT_EQ(settings.schedule_or_null()->active, 3u);
}

}  // namespace
}  // namespace telltale::record
