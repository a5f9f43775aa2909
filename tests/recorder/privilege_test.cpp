// Several users on one machine: the recorder gives none of them what another one has. See docs/security.md.
//
// Tests that need two users run as root, become others in children, and are skipped elsewhere.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>

#include "recorded_file.h"
#include "telltale/telltale.hpp"

#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace telltale {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kVictim = 54321, kAttacker = 54322;
constexpr int kRecorded = 1, kPrivileged = 2, kCannotChangeUser = 100;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// What a child of that user returns.
int as_user(uid_t user, const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0) _exit(kCannotChangeUser);
    _exit(act());
  }
  const ChildEnd end = wait_for(child);
  return WIFEXITED(end.status) ? WEXITSTATUS(end.status) : -1;
}

class PrivilegeTest : public RecordingTest {
 protected:
  // A folder that all may write to and in which each can only remove what is theirs, as /tmp.
  std::string shared_folder() const {
    fs::permissions(fs::path(path()).parent_path(), static_cast<fs::perms>(0755));
    const std::string folder = path("shared");
    EXPECT_EQ(mkdir(folder.c_str(), 0), 0);
    EXPECT_EQ(chmod(folder.c_str(), 01777), 0);
    return folder;
  }

  static void make_file(const std::string& path, uid_t owner, mode_t mode, const std::string& text = "precious") {
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(chown(path.c_str(), owner, owner), 0);
  }

  // The status of a recording to `path`, from its start to its end.
  int recorded(const std::string& path) const {
    telltale_options options = this->options();
    options.path = path.c_str();
    const telltale_status status = telltale_start(&options);
    {
      TELLTALE_SCOPE("work");
    }
    if (status == TELLTALE_STATUS_OK) telltale_stop();
    return status;
  }
};

#define SKIP_UNLESS_ROOT() \
  if (geteuid() != 0) GTEST_SKIP() << "only root can become two users; run this test as root"

TEST_F(PrivilegeTest, a_setuid_program_is_not_recorded_because_a_variable_says_so) {
  SKIP_UNLESS_ROOT();
  const std::string folder = shared_folder(), program = path("program");
  fs::copy_file(IS_RECORDED, program);
  const auto run = [&] {
    return as_user(kAttacker, [&] {
      const std::string variable = "TELLTALE_RECORD=" + folder + "/run.tell";
      std::array<char*, 2> words = {const_cast<char*>(program.c_str()), nullptr};
      std::array<char*, 2> variables = {const_cast<char*>(variable.c_str()), nullptr};
      return execve(program.c_str(), words.data(), variables.data());
    });
  };
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  ASSERT_EQ(run(), kRecorded) << "the user's own program is";
  fs::remove(folder + "/run.tell");
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  const int privileged = run();
  if ((privileged & kPrivileged) == 0) GTEST_SKIP() << folder << " is on a file system without setuid programs";
  EXPECT_EQ(privileged, kPrivileged);
  EXPECT_FALSE(fs::exists(folder + "/run.tell"));
}

TEST_F(PrivilegeTest, a_recording_is_its_users_alone) {
  const mode_t before = umask(0);
  EXPECT_EQ(recorded(path()), TELLTALE_STATUS_OK);
  umask(before);
  EXPECT_EQ(mode_of(path()), 0600u);
}

TEST_F(PrivilegeTest, replacing_a_file_that_others_may_read_gives_one_that_they_may_not) {
  std::ofstream(path()) << "old";
  ASSERT_EQ(chmod(path().c_str(), 0666), 0);
  const int reader = open(path().c_str(), O_RDONLY);
  EXPECT_EQ(recorded(path()), TELLTALE_STATUS_OK);
  EXPECT_EQ(mode_of(path()), 0600u);
  char old[4] = {};
  EXPECT_EQ(read(reader, old, sizeof old), 3) << "who had the old file open still sees it";
  close(reader);
}

TEST_F(PrivilegeTest, no_symbolic_link_is_followed_not_even_an_own_one) {
  std::ofstream(path("target")) << "precious";
  for (const char* target : {"target", "nowhere"}) {
    fs::create_symlink(target, path("link.tell"));
    EXPECT_EQ(recorded(path("link.tell")), TELLTALE_STATUS_CANNOT_OPEN);
    EXPECT_NE(std::string(telltale_error_text()).find("is a symbolic link"), std::string::npos);
    EXPECT_TRUE(fs::is_symlink(path("link.tell"))) << "it stays";
    fs::remove(path("link.tell"));
  }
  EXPECT_EQ(text_of(path("target")), "precious");
  EXPECT_FALSE(fs::exists(path("nowhere")));
}

TEST_F(PrivilegeTest, a_link_that_another_user_planted_in_a_shared_folder_costs_its_target_nothing) {
  SKIP_UNLESS_ROOT();
  const std::string folder = shared_folder(), target = path("home");
  make_file(target, kVictim, 0600);
  const std::string link = folder + "/run.tell";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  ASSERT_EQ(lchown(link.c_str(), kAttacker, kAttacker), 0);
  EXPECT_EQ(as_user(kVictim, [&] { return recorded(link); }), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(text_of(target), "precious");
}

TEST_F(PrivilegeTest, a_hard_link_to_an_own_file_in_a_folder_of_another_costs_it_nothing) {
  SKIP_UNLESS_ROOT();
  const std::string folder = shared_folder(), target = folder + "/home", link = folder + "/run.tell";
  make_file(target, kVictim, 0600);
  ASSERT_EQ(::link(target.c_str(), link.c_str()), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);  // the victim cannot take the name away
  EXPECT_EQ(as_user(kVictim, [&] { return recorded(link); }), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(text_of(target), "precious");
}

TEST_F(PrivilegeTest, a_file_that_another_user_lets_all_write_to_is_not_filled) {
  SKIP_UNLESS_ROOT();
  const std::string bait = shared_folder() + "/run.tell";
  make_file(bait, kAttacker, 0666);
  EXPECT_EQ(as_user(kVictim, [&] { return recorded(bait); }), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(text_of(bait), "precious");
}

TEST_F(PrivilegeTest, an_own_file_in_a_folder_that_is_not_ours_is_filled) {
  SKIP_UNLESS_ROOT();
  const std::string folder = shared_folder(), given = folder + "/run.tell";
  make_file(given, kVictim, 0600);
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(as_user(kVictim, [&] { return recorded(given); }), TELLTALE_STATUS_OK);
  EXPECT_EQ(count_of(read_recording(given), "work"), 1u);
}

TEST_F(PrivilegeTest, pipes_do_not_hold_the_program_up_and_devices_are_used_as_they_are) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(recorded(path("pipe")), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(recorded("/dev/null"), TELLTALE_STATUS_OK);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(PrivilegeTest, a_closed_standard_stream_does_not_lead_into_the_recording) {
  const pid_t child = fork();
  if (child == 0) {
    for (int stream = 0; stream < 3; ++stream) close(stream);
    const telltale_options options = this->options();
    const telltale_status status = telltale_start(&options);
    {
      TELLTALE_SCOPE("work");
    }
    for (int stream = 0; stream < 3; ++stream)
      if (write(stream, "hello", 5) >= 0) _exit(kRecorded);
    telltale_stop();
    _exit(status == TELLTALE_STATUS_OK ? 0 : kCannotChangeUser);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(count_of(read_recording(path()), "work"), 1u);
}

}  // namespace
}  // namespace telltale
