#include "answers/page_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace telltale::answers {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPage = "<!doctype html>\n<head>\n<meta name=\"generator\" content=\"telltale\">\n</head>\n";

class PageFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string written(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("page_file_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PageFile, replaces_an_older_page_of_ours_and_an_empty_file) {
  for (const std::string& old : {written("old.html", kPage), written("empty.html", "")}) {
    EXPECT_TRUE(check_page(old, "trace.json", Spelling::kFlags));
    ASSERT_TRUE(write_page(old, "new"));
    EXPECT_EQ(text_of(old), "new");
  }
  EXPECT_EQ(files(), 2U);
}

TEST_F(PageFile, refuses_what_is_not_ours) {
  const std::string mine = written("mine.html", "<!doctype html>\n<title>mine</title>\n");
  const auto checked = check_page(mine, "trace.json", Spelling::kFlags);
  ASSERT_FALSE(checked);
  EXPECT_EQ(to_string(checked.error()),
            mine + ": already exists and is not a report of telltale; choose another name for --html, or remove it");
}

TEST_F(PageFile, refuses_the_trace_itself) {
  const std::string trace = written("trace.json", kPage);
  const auto checked = check_page(trace, trace, Spelling::kFlags);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "the page would overwrite the trace; choose another name for --html");
}

TEST_F(PageFile, leaves_the_old_page_alone_when_writing_fails) {
  const auto failed = write_page(path("none") + "/page.html", "new");
  ASSERT_FALSE(failed);
  EXPECT_EQ(files(), 0U);
  EXPECT_FALSE(write_page("/dev/full", "new"));
}

TEST_F(PageFile, writes_to_what_is_no_regular_file) {
  EXPECT_TRUE(check_page("/dev/null", "trace.json", Spelling::kFlags));
  EXPECT_TRUE(write_page("/dev/null", "new"));
}

}  // namespace
}  // namespace telltale::answers
