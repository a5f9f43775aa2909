#include "formats/output/text_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "formats/output/testing/sinks.h"

namespace telltale {
namespace {

template <typename... Pieces>
std::string written(const Pieces&... pieces) {
  MemorySink sink;
  TextWriter out(sink);
  (out << ... << pieces);
  EXPECT_TRUE(out.finish());
  return sink.text;
}

TEST(TextWriter, joins_texts_and_numbers) {
  EXPECT_EQ(written("a", 'b', std::string_view("cd"), 5, -7, std::uint64_t{18446744073709551615u}),
            "abcd5-718446744073709551615");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(TextWriter, writes_real_numbers_as_short_as_they_can_be) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(0.1f), "0.1");
  EXPECT_EQ(written(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(written(-1e300), "-1e+300");
  EXPECT_EQ(written(5.0), "5");
}

TEST(TextWriter, writes_nanoseconds_as_exact_microseconds) {
  EXPECT_EQ(written(InMicroseconds{0}), "0.000");
  EXPECT_EQ(written(InMicroseconds{7}), "0.007");
  EXPECT_EQ(written(InMicroseconds{1234567}), "1234.567");
  EXPECT_EQ(written(InMicroseconds{-1}), "-0.001");
  EXPECT_EQ(written(InMicroseconds{-20050}), "-20.050");
  EXPECT_EQ(written(InMicroseconds{3848178908617106}), "3848178908617.106");
  EXPECT_EQ(written(InMicroseconds{std::numeric_limits<Nanoseconds>::min()}), "-9223372036854775.808");
}

TEST(TextWriter, quotes_for_json_and_csv) { EXPECT_EQ(written(InJson{"a\"b"}, ':', InCsv{"c,d"}), R"("a\"b":"c,d")"); }

TEST(TextWriter, holds_a_bounded_amount_back) {
  MemorySink sink;
  TextWriter out(sink);
  std::string expected;
  for (int i = 0; i < 200'000; ++i) {
    out << i << '\n';
    expected += std::to_string(i) + '\n';
  }
  EXPECT_GT(sink.writes, 3);
  EXPECT_LT(expected.size() - sink.text.size(), std::size_t{1} << 19);
  EXPECT_TRUE(out.finish());
  EXPECT_EQ(sink.text, expected);
  EXPECT_EQ(sink.finishes, 1);
}

TEST(TextWriter, reports_the_first_error_and_writes_nothing_after_it) {
  FullDisk disk(1 << 19);
  TextWriter out(disk);
  EXPECT_FALSE(out.has_failed());
  const std::string line(1000, 'x');
  for (int i = 0; i < 5000; ++i) out << line;
  EXPECT_TRUE(out.has_failed());
  const int attempts = disk.attempts;
  for (int i = 0; i < 5000; ++i) out << line;
  const Result<void> end = out.finish();
  ASSERT_FALSE(end);
  EXPECT_EQ(to_string(end.error()), "out.json: could not be written: No space left on device");
  EXPECT_EQ(disk.attempts, attempts);
}

}  // namespace
}  // namespace telltale
