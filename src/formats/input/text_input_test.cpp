#include "formats/input/text_input.h"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace telltale {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;

std::string sample_text(std::size_t bytes) {
  std::string text;
  for (std::int64_t i = 0; text.size() < bytes; ++i)
    text += "{\"ph\": \"X\", \"ts\": " + std::to_string(i * 7919) + "},\n";
  text.resize(bytes);
  return text;
}

std::string gzipped(const std::string& text) {
  std::string out(text.size() + 4096, '\0');
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  out.resize(stream.total_out);
  return out;
}

std::string zstd_compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class TextInputTest : public testing::Test {
 protected:
  std::string write(const std::string& bytes) {
    const auto path =
        testing::TempDir() + "/text_input_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // Reads everything, `piece` bytes at a time.
  std::string read_all(TextInput& input, std::size_t piece) {
    std::string text, buffer(piece, '\0');
    for (;;) {
      const auto got = input.read(buffer);
      EXPECT_TRUE(got.has_value());
      if (!got) return text;
      text.append(buffer, 0, *got);
      if (*got < piece) return text;
    }
  }

  void expect_text(const std::string& bytes, const std::string& text, bool was_cut = false) {
    const std::string path = write(bytes);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
      if (piece == 1 && text.size() > 100000) continue;
      auto input = open_text(path, kNoLimit);
      ASSERT_TRUE(input.has_value());
      EXPECT_EQ(read_all(**input, piece), text) << "in pieces of " << piece;
      EXPECT_EQ((*input)->was_cut(), was_cut) << "in pieces of " << piece;
    }
  }

  void expect_refused(const std::string& path, const std::string& sentence, std::uint64_t limit = kNoLimit) {
    auto input = open_text(path, limit);
    if (input) {
      std::string buffer(1 << 20, '\0');
      auto got = (*input)->read(buffer);
      while (got && *got == buffer.size()) got = (*input)->read(buffer);
      ASSERT_FALSE(got.has_value());
      EXPECT_NE(to_string(got.error()).find(sentence), std::string::npos) << to_string(got.error());
    } else {
      EXPECT_NE(to_string(input.error()).find(sentence), std::string::npos) << to_string(input.error());
    }
  }
};

TEST_F(TextInputTest, reads_plain_text) { expect_text(sample_text(5000), sample_text(5000)); }
TEST_F(TextInputTest, reads_text_shorter_than_a_magic_number) { expect_text("[", "["); }
TEST_F(TextInputTest, reads_gzip) { expect_text(gzipped(sample_text(50000)), sample_text(50000)); }
TEST_F(TextInputTest, reads_gzip_larger_than_its_windows) {
  expect_text(gzipped(sample_text(30'000'000)), sample_text(30'000'000));
}
TEST_F(TextInputTest, reads_several_gzip_members_as_one_text) {
  expect_text(gzipped("[1,") + gzipped("2,") + gzipped("3]"), "[1,2,3]");
}
TEST_F(TextInputTest, ignores_zeros_behind_gzip) { expect_text(gzipped("[1]") + std::string(512, '\0'), "[1]"); }
TEST_F(TextInputTest, reads_zstd) { expect_text(zstd_compressed(sample_text(50000)), sample_text(50000)); }
TEST_F(TextInputTest, reads_several_zstd_frames_as_one_text) {
  expect_text(zstd_compressed("[1,") + zstd_compressed("2]"), "[1,2]");
}

TEST_F(TextInputTest, gives_the_beginning_of_a_compressed_file_that_was_cut) {
  const std::string text = sample_text(3'000'000);
  for (const std::string& whole : {gzipped(text), zstd_compressed(text)}) {
    const std::string path = write(whole.substr(0, whole.size() / 2));
    auto input = open_text(path, kNoLimit);
    ASSERT_TRUE(input.has_value());
    const std::string got = read_all(**input, 1 << 16);
    EXPECT_TRUE((*input)->was_cut());
    EXPECT_GT(got.size(), text.size() / 10);
    EXPECT_TRUE(text.starts_with(got));
  }
}

TEST_F(TextInputTest, gives_the_same_beginning_of_a_damaged_zstd_file_however_it_is_read) {
  const std::string text = sample_text(3'000'000);
  std::string damaged = zstd_compressed(text);
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 64; ++i) damaged[i] = '\xff';
  const std::string path = write(damaged);
  auto input = open_text(path, kNoLimit);
  ASSERT_TRUE(input.has_value());
  const std::string got = read_all(**input, 1 << 22);
  EXPECT_TRUE((*input)->was_cut());
  EXPECT_GT(got.size(), text.size() / 10);
  expect_text(damaged, got, true);
}

TEST_F(TextInputTest, refuses_what_decompresses_to_more_than_allowed) {
  const std::string zeros(50'000'000, ' ');
  expect_refused(write(gzipped(zeros)), "more than 1.00 MiB", 1 << 20);
  expect_refused(write(zstd_compressed(zeros)), "more than 1.00 MiB", 1 << 20);
}

TEST_F(TextInputTest, says_in_one_sentence_what_is_wrong_with_a_path) {
  expect_refused("/nowhere/at all", "no such file");
  expect_refused(testing::TempDir(), "is a folder");
  expect_refused(write(""), "is empty");
}

TEST_F(TextInputTest, gives_no_more_text_once_it_is_stopped) {
  const std::string text = sample_text(100'000);
  auto input = open_text(write(gzipped(text)), kNoLimit);
  ASSERT_TRUE(input);
  std::atomic<bool> stop = false;
  const auto stoppable_input = stoppable(std::move(*input), stop);
  std::string half(text.size() / 2, ' ');
  EXPECT_EQ(stoppable_input->read(half), half.size());
  EXPECT_EQ(half, text.substr(0, half.size()));
  stop = true;
  EXPECT_FALSE(stoppable_input->read(half));
}

}  // namespace
}  // namespace telltale
