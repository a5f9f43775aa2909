#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tell/crc32c.h"
#include "tell/varint.h"

namespace telltale::tell {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, gives_the_published_values) {
  EXPECT_EQ(crc32c("123456789", 9), 0xE3069283u);
  const std::vector<unsigned char> zeros(32, 0), ones(32, 0xFF);
  EXPECT_EQ(crc32c(zeros.data(), zeros.size()), 0x8A9136AAu);
  EXPECT_EQ(crc32c(ones.data(), ones.size()), 0x62A8AB43u);
}

TEST(Crc32c, is_the_same_with_and_without_the_instruction_and_in_pieces) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text.push_back(static_cast<char>(i * 37));
    const std::uint32_t whole = crc32c(text.data(), text.size());
    EXPECT_EQ(crc32c_portable(text.data(), text.size()), whole);
    const std::size_t half = text.size() / 2;
    EXPECT_EQ(crc32c(text.data() + half, text.size() - half, crc32c(text.data(), half)), whole);
  }
}

TEST(Varint, round_trips_numbers_of_every_length) {
  std::vector<std::int64_t> numbers = {0, 1, -1, std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min()};
  for (int bit = 0; bit < 63; ++bit)
    for (const int offset : {-1, 0, 1}) numbers.push_back((std::int64_t{1} << bit) + offset);
  std::vector<unsigned char> bytes(numbers.size() * kMaxVarintBytes);
  unsigned char* at = bytes.data();
  for (const std::int64_t number : numbers) at = put_varint(at, zigzag(number));
  ByteReader reader(bytes.data(), at);
  for (const std::int64_t number : numbers) EXPECT_EQ(reader.signed_varint(), number);
  EXPECT_TRUE(reader.is_good());
  EXPECT_TRUE(reader.is_at_end());
}

TEST(Varint, of_small_numbers_takes_one_byte) {
  unsigned char bytes[kMaxVarintBytes];
  EXPECT_EQ(put_varint(bytes, 127) - bytes, 1);
  EXPECT_EQ(put_varint(bytes, 128) - bytes, 2);
  EXPECT_EQ(put_varint(bytes, UINT64_MAX) - bytes, 10);
  EXPECT_EQ(zigzag(-64), 127u);
}

TEST(ByteReader, says_so_when_bytes_are_missing_and_gives_zeros_from_then_on) {
  const unsigned char cut[] = {0x80, 0x80};
  ByteReader reader(cut, cut + sizeof cut);
  EXPECT_EQ(reader.varint(), 0u);
  EXPECT_FALSE(reader.is_good());
  EXPECT_EQ(reader.fixed64(), 0u);

  const unsigned char endless[12] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
  ByteReader too_long(endless, endless + sizeof endless);
  too_long.varint();
  EXPECT_FALSE(too_long.is_good());

  ByteReader short_of(cut, cut + 1);
  EXPECT_EQ(short_of.bytes(2).left(), 0u);
  EXPECT_FALSE(short_of.is_good());
}

}  // namespace
}  // namespace telltale::tell
