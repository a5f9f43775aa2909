#include "formats/output/pending_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace telltale {
namespace {

namespace fs = std::filesystem;

class PendingFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("telltale_pending_" + std::to_string(getpid()));
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename().string());
    std::ranges::sort(found);
    return found;
  }
  static void fill(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static void fill(const PendingFile& file, const std::string& text) {
    EXPECT_EQ(write(file.descriptor(), text.data(), text.size()), text.size());
  }
  static mode_t mode_of(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(lstat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  static std::string why_not(const std::string& path) {
    const auto file = PendingFile::reserve(path, PendingFile::Existing::kReplace);
    return file ? "nothing" : file.error().message;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  fs::path folder_;
};

using Existing = PendingFile::Existing;
using Names = std::vector<std::string>;

TEST_F(PendingFileTest, gets_its_name_when_it_is_complete) {
  auto file = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
  ASSERT_TRUE(file);
  fill(*file, "text");
  EXPECT_FALSE(fs::exists(in_folder("out")));
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(content_of(in_folder("out")), "text");
}

TEST_F(PendingFileTest, leaves_nothing_behind_when_it_is_given_up) {
  {
    auto file = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
    ASSERT_TRUE(file);
    fill(*file, "half a te");
  }
  EXPECT_EQ(names(), Names{});
}

TEST_F(PendingFileTest, replaces_a_file_only_when_asked_to_and_only_at_the_end) {
  fill(in_folder("out"), "old");
  const auto refused = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "is there already; --force overwrites it");
  auto file = PendingFile::reserve(in_folder("out"), Existing::kReplace);
  ASSERT_TRUE(file);
  fill(*file, "new");
  EXPECT_EQ(content_of(in_folder("out")), "old");
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(content_of(in_folder("out")), "new");
  EXPECT_EQ(names(), Names{"out"});
}

TEST_F(PendingFileTest, two_at_once_do_not_disturb_each_other) {
  auto first = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
  auto second = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
  ASSERT_TRUE(first && second);
  fill(*first, "first");
  fill(*second, "second");
  EXPECT_TRUE(second->commit());
  const auto late = first->commit();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "is there already; --force overwrites it");
  EXPECT_EQ(content_of(in_folder("out")), "second");
}

TEST_F(PendingFileTest, keeps_a_symbolic_link_and_replaces_what_it_leads_to) {
  fill(in_folder("real"), "old");
  fs::create_symlink("real", in_folder("link"));
  auto file = PendingFile::reserve(in_folder("link"), Existing::kReplace);
  ASSERT_TRUE(file);
  fill(*file, "new");
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(fs::is_symlink(in_folder("link")));
  EXPECT_EQ(content_of(in_folder("real")), "new");
}

TEST_F(PendingFileTest, writes_directly_to_what_is_no_file) {
  auto file = PendingFile::reserve("/dev/null", Existing::kRefuse);
  ASSERT_TRUE(file);
  fill(*file, "text");
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(PendingFileTest, writes_to_a_pipe_that_only_a_descriptor_leads_to) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto file = PendingFile::reserve("/dev/fd/" + std::to_string(ends[1]), Existing::kRefuse);
  ASSERT_TRUE(file) << file.error().message;
  fill(*file, "text");
  EXPECT_TRUE(file->commit());
  std::string text(4, '\0');
  EXPECT_EQ(read(ends[0], text.data(), text.size()), 4);
  EXPECT_EQ(text, "text");
  close(ends[0]);
  close(ends[1]);
}

TEST_F(PendingFileTest, is_its_users_alone_unless_it_is_made_to_be_shown) {
  const mode_t before = umask(022);
  for (const auto readers : {PendingFile::Readers::kUser, PendingFile::Readers::kAll}) {
    fill(in_folder("out"), "old");
    ASSERT_EQ(chmod(in_folder("out").c_str(), 0666), 0);
    auto file = PendingFile::reserve(in_folder("out"), Existing::kReplace, readers);
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->commit());
    EXPECT_EQ(mode_of(in_folder("out")), readers == PendingFile::Readers::kUser ? 0600u : 0644u);
  }
  umask(before);
}

TEST_F(PendingFileTest, follows_no_link_and_fills_no_pipe_of_another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user; run this test as root";
  constexpr uid_t kOther = 54321;
  fill(in_folder("real"), "precious");
  fs::create_symlink("real", in_folder("link"));
  fs::create_symlink("link", in_folder("own"));  // leads to it
  ASSERT_EQ(lchown(in_folder("link").c_str(), kOther, kOther), 0);
  ASSERT_EQ(mkfifo(in_folder("pipe").c_str(), 0666), 0);
  ASSERT_EQ(chown(in_folder("pipe").c_str(), kOther, kOther), 0);
  EXPECT_EQ(why_not(in_folder("link")), "is a link of another user; name the file that it leads to");
  EXPECT_EQ(why_not(in_folder("own")), "is a link of another user; name the file that it leads to");
  EXPECT_EQ(why_not(in_folder("pipe")), "is a pipe of another user; choose another name");
  EXPECT_EQ(content_of(in_folder("real")), "precious");
}

TEST_F(PendingFileTest, writes_through_no_link_that_appears_meanwhile) {
  fill(in_folder("real"), "precious");
  auto file = PendingFile::reserve(in_folder("out"), Existing::kReplace);
  ASSERT_TRUE(file);
  fill(*file, "text");
  fs::create_symlink("real", in_folder("out"));
  EXPECT_TRUE(file->commit());
  EXPECT_FALSE(fs::is_symlink(in_folder("out")));
  EXPECT_EQ(content_of(in_folder("out")), "text");
  EXPECT_EQ(content_of(in_folder("real")), "precious");
}

TEST_F(PendingFileTest, says_what_is_wrong_with_a_path) {
  const auto message = [&](const std::string& path) {
    const auto file = PendingFile::reserve(path, Existing::kRefuse);
    return file ? "nothing" : file.error().message;
  };
  EXPECT_EQ(message(in_folder("none/out")), "cannot be written: its folder does not exist");
  EXPECT_EQ(message(in_folder(".")), "is a folder; name a file in it");
  fill(in_folder("file"), "");
  EXPECT_EQ(message(in_folder("file/out")), "cannot be written: a part of its path is no folder");
}

}  // namespace
}  // namespace telltale
