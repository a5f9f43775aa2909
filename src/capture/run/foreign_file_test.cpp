#include "capture/run/foreign_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

class ForeignFileTest : public testing::Test {
 protected:
  ForeignFileTest() {
    std::string pattern = (fs::temp_directory_path() / "telltale-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(folder_ / "secret") << "secret";
  }
  ~ForeignFileTest() override { fs::remove_all(folder_); }

  fs::path given() const { return folder_ / "given"; }
  fs::path taken() const { return folder_ / "taken"; }
  bool take(uid_t owner = geteuid()) const { return take_file(given(), owner, taken()); }

  fs::path folder_;
};

TEST_F(ForeignFileTest, a_file_becomes_ours_alone) {
  std::ofstream(given()) << "trace";
  fs::permissions(given(), fs::perms::all);
  std::ofstream(taken()) << "an older one";
  ASSERT_TRUE(take());
  std::ifstream file(taken());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "trace");
  EXPECT_EQ(fs::status(taken()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(given()));
}

TEST_F(ForeignFileTest, links_pipes_and_files_of_third_users_are_left_alone) {
  EXPECT_FALSE(take()) << "there is none";
  fs::create_symlink("secret", given());
  EXPECT_FALSE(take());
  fs::remove(given());
  ASSERT_EQ(mkfifo(given().c_str(), 0600), 0);
  EXPECT_FALSE(take()) << "and nobody waits";
  fs::remove(given());
  fs::create_hard_link(folder_ / "secret", given());
  EXPECT_FALSE(take(geteuid() + 1)) << "a file of ours is not one of theirs, whatever they call it";
  EXPECT_FALSE(fs::exists(taken()));
  EXPECT_TRUE(fs::exists(given()));
}

}  // namespace
}  // namespace telltale::capture
