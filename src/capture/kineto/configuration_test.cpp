#include "capture/kineto/configuration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace telltale::capture {
namespace {

TEST(Configuration, by_steps) {
  const KinetoRequest request{"/runs/a.json", StepWindow{.skipped = 4, .warmup = 2, .recorded = 5}, {}, true};
  EXPECT_EQ(configuration_text(request),
            "ACTIVITIES_LOG_FILE=/runs/a.json\n"
            "PROFILE_START_ITERATION=3\n"
            "PROFILE_START_ITERATION_ROUNDUP=1\n"
            "ACTIVITIES_WARMUP_ITERATIONS=2\n"
            "ACTIVITIES_ITERATIONS=5\n"
            "ACTIVITIES_DURATION_MSECS=0\n"
            "PROFILE_REPORT_INPUT_SHAPES=true\n"
            "PROFILE_PROFILE_MEMORY=false\n"
            "PROFILE_WITH_STACK=false\n"
            "PROFILE_WITH_MODULES=false\n");
}

TEST(Configuration, by_time) {
  const KinetoRequest request{"/runs/a.json", std::nullopt, std::chrono::milliseconds(1500), false, true, true};
  EXPECT_EQ(configuration_text(request),
            "ACTIVITIES_LOG_FILE=/runs/a.json\n"
            "PROFILE_START_TIME=0\n"
            "ACTIVITIES_WARMUP_PERIOD_SECS=0\n"
            "ACTIVITIES_DURATION_MSECS=1500\n"
            "PROFILE_REPORT_INPUT_SHAPES=false\n"
            "PROFILE_PROFILE_MEMORY=true\n"
            "PROFILE_WITH_STACK=true\n"
            "PROFILE_WITH_MODULES=true\n");
}

TEST(Configuration, nothing_skipped_starts_at_the_first_end_of_a_step) {
  EXPECT_NE(configuration_text({"/a.json", StepWindow{}, {}}).find("PROFILE_START_ITERATION=0\n"), std::string::npos);
}

TEST(Configuration, keeps_the_lines_that_a_user_has) {
  EXPECT_EQ(client_configuration(""), "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n");
  EXPECT_EQ(client_configuration("A=1\nB=2"), "A=1\nB=2\nON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n");
  EXPECT_EQ(client_configuration("A=1\n"), "A=1\nON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n");
}

TEST(Configuration, the_profiler_puts_the_pid_before_the_first_ending) {
  EXPECT_EQ(written_log_file("/runs/a.json", 4711), "/runs/a_4711.json");
  EXPECT_EQ(written_log_file("/x.json/a.json", 1), "/x_1.json/a.json");
}

TEST(Configuration, paths_that_its_lines_cannot_hold_are_known) {
  EXPECT_TRUE(is_plain_log_file("/home/me/my runs/a-1.json"));
  for (const char* path : {"a.json", "/a=b/a.json", "/a#b/a.json", "/x.json/a.json", "/runs/../a.json", "/a\nb.json",
                           "/runs/a.json.gz", "/runs/a..b.json", ""})
    EXPECT_FALSE(is_plain_log_file(path)) << path;
}

TEST(Configuration, a_trace_in_which_nothing_ran_is_told_from_others) {
  const std::string path = testing::TempDir() + "has_operators.json";
  const auto written = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return has_operators(path);
  };
  const std::string mark = "\"cat\": \"cpu_op\"";
  EXPECT_FALSE(has_operators("/no/such/file.json"));
  EXPECT_FALSE(written(""));
  EXPECT_FALSE(written("{\"cat\": \"overhead\", \"name\": \"cpu_op\\\""));
  EXPECT_TRUE(written(mark));
  // Wherever it stands among the parts in which the file is read.
  for (std::size_t before = 65516; before < 65556; ++before)
    EXPECT_TRUE(written(std::string(before, 'x') + mark + std::string(100, 'x'))) << before;
  EXPECT_FALSE(written(std::string(200'000, 'x')));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace telltale::capture
