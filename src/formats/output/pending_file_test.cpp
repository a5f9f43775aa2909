#include "formats/output/pending_file.h"

#include <gtest/gtest.h>
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
  fill(file->path(), "text");
  EXPECT_FALSE(fs::exists(in_folder("out")));
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(content_of(in_folder("out")), "text");
}

TEST_F(PendingFileTest, leaves_nothing_behind_when_it_is_given_up) {
  {
    auto file = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
    ASSERT_TRUE(file);
    fill(file->path(), "half a te");
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
  fill(file->path(), "new");
  EXPECT_EQ(content_of(in_folder("out")), "old");
  EXPECT_TRUE(file->commit());
  EXPECT_EQ(content_of(in_folder("out")), "new");
  EXPECT_EQ(names(), Names{"out"});
}

TEST_F(PendingFileTest, two_at_once_do_not_disturb_each_other) {
  auto first = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
  auto second = PendingFile::reserve(in_folder("out"), Existing::kRefuse);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->path(), second->path());
}

TEST_F(PendingFileTest, keeps_a_symbolic_link_and_replaces_what_it_leads_to) {
  fill(in_folder("real"), "old");
  fs::create_symlink("real", in_folder("link"));
  auto file = PendingFile::reserve(in_folder("link"), Existing::kReplace);
  ASSERT_TRUE(file);
  fill(file->path(), "new");
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(fs::is_symlink(in_folder("link")));
  EXPECT_EQ(content_of(in_folder("real")), "new");
}

TEST_F(PendingFileTest, writes_directly_to_what_is_no_file) {
  auto file = PendingFile::reserve("/dev/null", Existing::kRefuse);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->path(), "/dev/null");
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
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
