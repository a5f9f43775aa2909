#include "formats/perfetto/proto_message.h"

#include <gtest/gtest.h>

namespace telltale::perfetto {
namespace {

std::string hex(const ProtoMessage& message) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : message.bytes()) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// The bytes are those of the examples in protobuf's own description of its encoding, or worked out from it by hand.
TEST(ProtoMessage, writes_numbers_seven_bits_at_a_time) {
  ProtoMessage message;
  message.add_unsigned(1, 150);
  EXPECT_EQ(hex(message), "089601");
  message.clear();
  message.add_signed(1, -2);
  EXPECT_EQ(hex(message), "08feffffffffffffffff01");
  message.clear();
  message.add_unsigned(58, 0);
  message.add_bool(16, true);
  EXPECT_EQ(hex(message),
            "d003008001"
            "01");
}

TEST(ProtoMessage, writes_strings_and_messages_behind_their_length) {
  ProtoMessage inner, message;
  inner.add_unsigned(1, 150);
  message.add_string(2, "testing");
  message.add_message(3, inner);
  EXPECT_EQ(hex(message),
            "120774657374696e67"
            "1a03089601");
}

TEST(ProtoMessage, writes_wide_numbers_lowest_byte_first) {
  ProtoMessage message;
  message.add_fixed64(1, 0x0102030405060708);
  message.add_double(2, 1.0);
  EXPECT_EQ(hex(message),
            "090807060504030201"
            "11000000000000f03f");
}

TEST(ProtoMessage, repairs_strings_that_are_not_utf8) {
  ProtoMessage message;
  message.add_string(1, "a\xff");
  EXPECT_EQ(hex(message), "0a0461efbfbd");
}

}  // namespace
}  // namespace telltale::perfetto
