// One trace in every form that a file can have: the reader must not see the difference. And what it must refuse.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "compare_traces.h"
#include "compression.h"
#include "formats/read_trace.h"
#include "json_pieces.h"
#include "slow_reader.h"
#include "traces_on_disk.h"

namespace telltale::oracle {
namespace {

class Forms : public testing::Test {
 protected:
  Forms()
      : text_(text_of_file(std::filesystem::path(TELLTALE_SOURCE_DIR) / "examples/traces/decode_cuda_graph.json.gz")),
        expected_(slow_read(text_)) {}

  void expect_same(const std::string& path, const ReadOptions& options = with_threads(2)) {
    ASSERT_TRUE(expected_);
    const auto fast = read_trace(path, options);
    ASSERT_TRUE(fast) << to_string(fast.error());
    const std::string found = difference(expected_->trace, *fast, "slow", "fast");
    EXPECT_TRUE(found.empty()) << found;
  }

  std::string text_;
  std::optional<SlowTrace> expected_;
};

void expect_one_sentence(const Result<Trace>& result, const std::string& about) {
  ASSERT_FALSE(result) << about;
  const std::string sentence = to_string(result.error());
  EXPECT_GT(sentence.size(), 10u) << about;
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << about;
}

TEST_F(Forms, plain_text_under_any_name) { expect_same(TemporaryFile(text_, ".txt").path()); }

TEST_F(Forms, gzip_under_any_name) { expect_same(TemporaryFile(gzipped(text_), ".json").path()); }

TEST_F(Forms, several_gzip_members) {
  const std::size_t third = text_.size() / 3;
  expect_same(TemporaryFile(gzipped(text_.substr(0, third)) + gzipped("") + gzipped(text_.substr(third, third)) +
                                gzipped(text_.substr(2 * third)),
                            ".json.gz")
                  .path());
}

TEST_F(Forms, zstd_also_in_several_frames) {
  expect_same(TemporaryFile(zstd_compressed(text_), ".json.zst").path());
  const std::size_t half = text_.size() / 2;
  expect_same(
      TemporaryFile(zstd_compressed(text_.substr(0, half)) + zstd_compressed(text_.substr(half)), ".json.zst").path());
}

TEST_F(Forms, blocks_of_any_size) {
  const TemporaryFile file(text_);
  for (const std::size_t block_bytes : {1, 17, 1000, 65536, 10'000'000})
    expect_same(file.path(), with_threads(3, block_bytes));
}

TEST_F(Forms, without_any_white_space) {
  const std::string compact_text = compact(text_);
  expected_->trace.text_bytes = compact_text.size();
  expect_same(TemporaryFile(compact_text).path());
}

TEST_F(Forms, top_level_keys_in_the_opposite_order) {
  std::string reversed;
  auto members = members_of(trimmed(text_));
  for (auto member = members.rbegin(); member != members.rend(); ++member)
    reversed += (reversed.empty() ? "{" : ",\n") + std::string(member->raw_key) + ": " + std::string(member->raw);
  reversed += "}\n";
  std::ranges::reverse(expected_->trace.metadata);
  expected_->trace.text_bytes = reversed.size();
  expect_same(TemporaryFile(reversed).path());
}

TEST_F(Forms, the_bare_list) {
  std::string list;
  for (const JsonMember& member : members_of(trimmed(text_)))
    if (member.key == "traceEvents") list = std::string(member.raw);
  expected_ = slow_read(list);
  expect_same(TemporaryFile(list).path());
}

TEST_F(Forms, standard_input) {
  for (const std::string& bytes : {text_, gzipped(text_)}) {
    const TemporaryFile file(bytes);
    const int kept = dup(STDIN_FILENO);
    const int descriptor = open(file.path().c_str(), O_RDONLY);
    dup2(descriptor, STDIN_FILENO);
    expect_same("-");
    dup2(kept, STDIN_FILENO);
    close(descriptor);
    close(kept);
  }
}

TEST_F(Forms, text_beyond_the_limit_is_refused) {
  ReadOptions options = with_threads(1);
  options.max_text_bytes = text_.size() - 1;
  expect_one_sentence(read_trace(TemporaryFile(gzipped(text_)).path(), options), "gzip");
  expect_one_sentence(read_trace(TemporaryFile(zstd_compressed(text_)).path(), options), "zstd");
  options.max_text_bytes = text_.size();
  expect_same(TemporaryFile(gzipped(text_)).path(), options);
}

TEST_F(Forms, what_is_no_trace_is_refused_in_one_sentence) {
  expect_one_sentence(read_trace("/nowhere/at/all.json"), "a file that is not there");
  expect_one_sentence(read_trace(std::filesystem::temp_directory_path().string()), "a folder");
  for (const std::string& text : {std::string(), std::string("  \n"), std::string("42"), std::string("\"traceEvents\""),
                                  std::string("{}"), std::string("{\"traceEvents\": 3}"), std::string("\0\0\0\0", 4),
                                  std::string("\x1f\x8b"), std::string("\x28\xb5\x2f\xfd"), gzipped(""), gzipped("no")})
    expect_one_sentence(read_trace(TemporaryFile(text).path()), text);
}

}  // namespace
}  // namespace telltale::oracle
