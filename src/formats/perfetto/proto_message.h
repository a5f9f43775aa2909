// A protobuf message on its way out: fields are appended in wire format, by their numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/text_encoding.h"

namespace telltale::perfetto {

class ProtoMessage {
 public:
  void clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }

  void add_unsigned(unsigned field, std::uint64_t value) {
    add_key(field, WireType::kVarint);
    add_varint(value);
  }
  // As proto's int32 and int64: negative numbers take ten bytes.
  void add_signed(unsigned field, std::int64_t value) { add_unsigned(field, static_cast<std::uint64_t>(value)); }
  void add_bool(unsigned field, bool value) { add_unsigned(field, value ? 1 : 0); }
  void add_fixed64(unsigned field, std::uint64_t value) {
    add_key(field, WireType::kFixed64);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void add_double(unsigned field, double value) { add_fixed64(field, std::bit_cast<std::uint64_t>(value)); }
  void add_bytes(unsigned field, std::string_view bytes) {
    add_key(field, WireType::kLengthDelimited);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  // Strings must be UTF-8; what is not is repaired.
  void add_string(unsigned field, std::string_view text) {
    if (is_utf8(text))
      add_bytes(field, text);
    else
      add_bytes(field, repaired_utf8(text));
  }
  void add_message(unsigned field, const ProtoMessage& message) { add_bytes(field, message.bytes_); }

 private:
  enum class WireType : unsigned { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

  void add_key(unsigned field, WireType type) { add_varint(field << 3 | static_cast<unsigned>(type)); }
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace telltale::perfetto
