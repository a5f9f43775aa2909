// Numbers of any size in few bytes: seven bits a byte, low ones first, the top bit says that more follow.
#pragma once

#include <cstdint>
#include <cstring>

namespace telltale::tell {

inline constexpr int kMaxVarintBytes = 10;

// Small numbers of either sign become small numbers without one: 0, -1, 1, -2, 2 → 0, 1, 2, 3, 4.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Writes at `at`, which must have kMaxVarintBytes left; returns the byte behind.
inline unsigned char* put_varint(unsigned char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<unsigned char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<unsigned char>(value);
  return at;
}

inline unsigned char* put_fixed64(unsigned char* at, std::uint64_t value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

// Reads bytes that may be damaged: past the end or past ten bytes it gives 0 and `is_good` turns false for good.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

  bool is_good() const { return is_good_; }
  bool is_at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const unsigned char* position() const { return at_; }

  std::uint64_t varint() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return long_varint();
  }
  std::int64_t signed_varint() { return unzigzag(varint()); }

  std::uint8_t byte() {
    if (at_ == end_) return fail();
    return *at_++;
  }
  std::uint64_t fixed64() {
    if (left() < sizeof(std::uint64_t)) return fail();
    std::uint64_t value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  double float64() {
    const std::uint64_t bits = fixed64();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  // The next `size` bytes as a reader of their own; empty when they are not there.
  ByteReader bytes(std::uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const unsigned char* begin = at_;
    at_ += size;
    return {begin, at_};
  }

 private:
  std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 7 * kMaxVarintBytes && at_ != end_; shift += 7) {
      const unsigned char byte = *at_++;
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  std::uint8_t fail() {
    is_good_ = false;
    at_ = end_;
    return 0;
  }

  const unsigned char* at_ = nullptr;
  const unsigned char* end_ = nullptr;
  bool is_good_ = true;
};

}  // namespace telltale::tell
