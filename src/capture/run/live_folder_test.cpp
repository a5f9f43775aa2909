#include "capture/run/live_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

class LiveFolderTest : public testing::Test {
 protected:
  LiveFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "telltale-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~LiveFolderTest() override { fs::remove_all(folder_); }

  std::optional<LiveFolder> reserved() const {
    auto live = LiveFolder::reserve(folder_, "run");
    EXPECT_TRUE(live) << to_string(live.error());
    return live ? *std::move(live) : std::nullopt;
  }
  // As a recording that is killed: with a file in it, and a lock that nobody holds.
  void leave() const {
    const pid_t child = fork();
    if (child == 0) {
      const auto live = LiveFolder::reserve(folder_, "run");
      std::ofstream((*live)->path() / "run_7.tell") << "data";
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }

  fs::path folder_;
};

TEST_F(LiveFolderTest, is_ours_alone_and_goes_without_a_trace) {
  {
    const auto live = reserved();
    ASSERT_TRUE(live);
    EXPECT_EQ(live->path(), folder_ / ".run.recording");
    EXPECT_EQ(fs::status(live->path()).permissions(), fs::perms::owner_all);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(LiveFolderTest, keeps_the_name_from_all_others_while_it_lives) {
  {
    const auto live = reserved();
    EXPECT_FALSE(reserved());
    EXPECT_TRUE(LiveFolder::reserve(folder_, "other").value());
  }
  EXPECT_TRUE(reserved());
}

TEST_F(LiveFolderTest, puts_aside_what_a_killed_recording_has_left) {
  for (const char* name : {"run.recording-1", "run.recording-2"}) {
    leave();
    const auto live = reserved();
    ASSERT_TRUE(live);
    EXPECT_EQ(live->put_aside(), folder_ / name);
    EXPECT_TRUE(fs::exists(folder_ / name / "run_7.tell"));
    EXPECT_FALSE(fs::exists(live->path() / "run_7.tell"));
  }
}

TEST_F(LiveFolderTest, keeps_what_could_not_be_delivered) {
  {
    std::ofstream(reserved()->path() / "run_7.tell") << "data";
  }
  leave();
  fs::path file;
  {
    const auto live = reserved();
    file = live->path() / "run_8.tell";
    std::ofstream(file) << "data";
  }
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(LiveFolderTest, is_not_made_where_something_else_has_its_name) {
  std::ofstream(folder_ / ".run.recording") << "precious";
  EXPECT_FALSE(LiveFolder::reserve(folder_, "run"));
  EXPECT_EQ(fs::file_size(folder_ / ".run.recording"), 8u);
  EXPECT_FALSE(LiveFolder::reserve(folder_ / "nowhere", "run"));
}

TEST_F(LiveFolderTest, of_many_at_once_each_has_its_folder_to_itself) {
  constexpr int kProcesses = 4, kRounds = 200, kMixed = 1;
  std::array<pid_t, kProcesses> children{};
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    int had = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto live = LiveFolder::reserve(folder_, "run");
      if (!live) _exit(kMixed);
      if (!*live) continue;
      ++had;
      const fs::path mine = (*live)->path() / "run_1.tell";
      if (fs::exists(mine)) _exit(kMixed);
      std::ofstream(mine) << getpid();
      int owner = 0;
      std::ifstream(mine) >> owner;
      if (owner != getpid()) _exit(kMixed);
      if (round % 8 != 0) fs::remove(mine);  // now and then it is left, as by one that was killed
    }
    _exit(had > 0 ? 0 : 2);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_NE(WEXITSTATUS(status), kMixed);
  }
}

}  // namespace
}  // namespace telltale::capture
