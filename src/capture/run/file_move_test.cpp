#include "capture/run/file_move.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;
using Existing = PendingFile::Existing;

class FileMoveTest : public testing::Test {
 protected:
  FileMoveTest() : folder_(new_folder(fs::temp_directory_path())) {
    std::ofstream(from()) << "trace";
    fs::permissions(from(), fs::perms::all);
  }
  ~FileMoveTest() override {
    fs::remove_all(folder_);
    if (!elsewhere_.empty()) fs::remove_all(elsewhere_);
  }

  static fs::path new_folder(const fs::path& where) {
    std::string pattern = (where / "telltale-test-XXXXXX").string();
    return mkdtemp(pattern.data()) == nullptr ? fs::path() : fs::path(pattern);
  }
  static std::string content_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path from() const { return folder_ / "from"; }

  void expect_moved_to(const fs::path& to) const {
    EXPECT_EQ(content_of(to), "trace");
    EXPECT_EQ(fs::status(to).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_FALSE(fs::exists(from()));
  }

  fs::path folder_, elsewhere_;
};

TEST_F(FileMoveTest, makes_the_file_its_users_alone) {
  ASSERT_TRUE(move_file(from(), folder_ / "to", Existing::kRefuse));
  expect_moved_to(folder_ / "to");
}

TEST_F(FileMoveTest, replaces_a_file_only_when_asked_to) {
  std::ofstream(folder_ / "to") << "precious";
  const auto refused = move_file(from(), folder_ / "to", Existing::kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(content_of(folder_ / "to"), "precious");
  EXPECT_TRUE(fs::exists(from()));
  ASSERT_TRUE(move_file(from(), folder_ / "to", Existing::kReplace));
  expect_moved_to(folder_ / "to");
}

TEST_F(FileMoveTest, replaces_a_link_and_not_what_it_leads_to) {
  std::ofstream(folder_ / "target") << "precious";
  fs::create_symlink("target", folder_ / "to");
  EXPECT_FALSE(move_file(from(), folder_ / "to", Existing::kRefuse));
  ASSERT_TRUE(move_file(from(), folder_ / "to", Existing::kReplace));
  EXPECT_FALSE(fs::is_symlink(folder_ / "to"));
  EXPECT_EQ(content_of(folder_ / "target"), "precious");
}

TEST_F(FileMoveTest, goes_to_another_file_system) {
  elsewhere_ = new_folder("/dev/shm");
  if (elsewhere_.empty()) GTEST_SKIP() << "there is no /dev/shm to write to";
  ASSERT_TRUE(move_file(from(), elsewhere_ / "to", Existing::kRefuse));
  expect_moved_to(elsewhere_ / "to");
  std::ofstream(from()) << "other";
  EXPECT_FALSE(move_file(from(), elsewhere_ / "to", Existing::kRefuse));
  EXPECT_EQ(content_of(elsewhere_ / "to"), "trace");
}

}  // namespace
}  // namespace telltale::capture
