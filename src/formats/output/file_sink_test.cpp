#include "formats/output/file_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace telltale {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FileSink, writes_what_it_gets) {
  const std::string path = fs::temp_directory_path() / ("telltale_file_sink_" + std::to_string(getpid()));
  {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    auto sink = FileSink::onto(file, path);
    ASSERT_TRUE(sink);
    EXPECT_TRUE((*sink)->write("one "));
    EXPECT_TRUE((*sink)->write(""));
    EXPECT_TRUE((*sink)->write("two"));
    EXPECT_TRUE((*sink)->finish());
    EXPECT_EQ(close(file), 0) << "it closes its own descriptor, not ours";
  }
  EXPECT_EQ(content_of(path), "one two");
  fs::remove(path);
}

TEST(FileSink, says_that_the_disk_is_full) {
  const int full = open("/dev/full", O_WRONLY);
  auto sink = FileSink::onto(full, "out.json");
  close(full);
  ASSERT_TRUE(sink);
  const Result<void> written = (*sink)->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(to_string(written.error()), "out.json: could not be written: No space left on device");
  EXPECT_FALSE((*sink)->has_lost_its_reader());
}

TEST(FileSink, says_that_there_is_no_such_descriptor) {
  const auto sink = FileSink::onto(-1, "out.json");
  ASSERT_FALSE(sink);
  EXPECT_EQ(to_string(sink.error()), "out.json: cannot be written: Bad file descriptor");
}

TEST(FileSink, knows_when_its_reader_has_gone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  auto* before = std::signal(SIGPIPE, SIG_IGN);
  auto sink = FileSink::onto(ends[1], "pipe");
  ASSERT_TRUE(sink);
  EXPECT_FALSE((*sink)->write("x"));
  EXPECT_TRUE((*sink)->has_lost_its_reader());
  std::signal(SIGPIPE, before);
  close(ends[1]);
}

}  // namespace
}  // namespace telltale
