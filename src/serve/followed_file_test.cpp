#include "serve/followed_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace telltale::serve {
namespace {

namespace fs = std::filesystem;

class FollowedFile : public testing::Test {
 protected:
  FollowedFile() : folder_(fs::path(testing::TempDir()) / ("followed_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~FollowedFile() override { fs::remove_all(folder_); }
  void write(const fs::path& name, std::size_t bytes) { std::ofstream(folder_ / name) << std::string(bytes, 'x'); }

  const fs::path folder_;
};

TEST_F(FollowedFile, is_the_file_itself_where_there_is_one) {
  write("run.tell", 1);
  fs::create_directory(folder_ / ".run.recording");
  write(".run.recording/run_7.tell", 5);
  EXPECT_EQ(file_behind(folder_ / "run.tell"), folder_ / "run.tell");
}

TEST_F(FollowedFile, is_the_largest_that_is_being_recorded_where_there_is_none_yet) {
  EXPECT_EQ(file_behind(folder_ / "run.tell"), folder_ / "run.tell");
  EXPECT_FALSE(is_being_recorded(folder_ / "run.tell"));
  fs::create_directory(folder_ / ".run.recording");
  EXPECT_TRUE(is_being_recorded(folder_ / "run.tell"));
  EXPECT_FALSE(is_being_recorded(folder_ / "other.tell"));
  EXPECT_EQ(file_behind(folder_ / "run.tell"), folder_ / "run.tell");
  write(".run.recording/run_7.tell", 5);
  write(".run.recording/run_8.tell", 9);
  write(".run.recording/lock", 100);
  fs::create_directory(folder_ / ".run.recording" / "folder.tell");
  EXPECT_EQ(file_behind(folder_ / "run.tell"), folder_ / ".run.recording" / "run_8.tell");
}

TEST_F(FollowedFile, has_another_mark_when_it_grows_or_is_replaced) {
  EXPECT_EQ(mark_of(folder_ / "run.tell"), std::nullopt);
  write("run.tell", 5);
  const auto first = mark_of(folder_ / "run.tell");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, 5U);
  EXPECT_EQ(mark_of(folder_ / "run.tell"), first);
  write("other.tell", 5);
  fs::rename(folder_ / "other.tell", folder_ / "run.tell");
  EXPECT_NE(mark_of(folder_ / "run.tell"), first);
}

}  // namespace
}  // namespace telltale::serve
