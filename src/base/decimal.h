// JSON numbers as exact decimals: a time of 3848178908617.106 µs is 3848178908617106 ns, which no double holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace telltale {

enum class DecimalStatus : std::uint8_t { kOk, kNotANumber, kOutOfRange };

struct Decimal {
  std::int64_t value = 0;
  const char* end = nullptr;  // behind the number; where it starts when it is none
  DecimalStatus status = DecimalStatus::kNotANumber;
};

// The number at `p` times ten to the power of `scale`, rounded half away from zero. The text must be followed by a
// byte that belongs to no number, and seven more may be looked at.
inline Decimal scan_decimal(const char* p, int scale);

// The number that the whole text is.
Decimal whole_decimal(std::string_view text);

// The same for a number without sign that may use all 64 bits, such as an address.
struct Unsigned {
  std::uint64_t value = 0;
  const char* end = nullptr;
  DecimalStatus status = DecimalStatus::kNotANumber;
};
Unsigned scan_unsigned(const char* p);

namespace internal {

// Any number that JSON allows, digit by digit.
Decimal scan_any_decimal(const char* start, int scale);

inline constexpr int kSafeDigits = 18;  // any number of so many digits fits 63 bits
inline constexpr std::int64_t kPowersOfTen[] = {1, 10, 100, 1000};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight digits at once: neighboring digits are joined to pairs, pairs to fours, fours to eight.
inline bool take_eight_digits(const char* p, std::uint64_t& value) {
  std::uint64_t chunk;
  std::memcpy(&chunk, p, sizeof chunk);
  const std::uint64_t digits = chunk - 0x3030303030303030;
  if (((digits + 0x7676767676767676) | digits) & 0x8080808080808080) return false;
  const std::uint64_t pairs = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF;
  const std::uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000FFFF0000FFFF;
  value = value * 100000000 + ((fours * 10000 + (fours >> 32)) & 0xFFFFFFFF);
  return true;
}

}  // namespace internal

inline Decimal scan_decimal(const char* start, int scale) {
  const char* p = start;
  const bool is_negative = *p == '-';
  if (is_negative) ++p;
  const char* digits = p;
  std::uint64_t value = 0;
  while (p - digits <= internal::kSafeDigits - 8 && internal::take_eight_digits(p, value)) p += 8;
  while (internal::is_digit(*p) && p - digits <= internal::kSafeDigits)
    value = value * 10 + static_cast<unsigned>(*p++ - '0');
  const std::ptrdiff_t whole_digits = p - digits;
  if (whole_digits == 0 || whole_digits + scale > internal::kSafeDigits) [[unlikely]]
    return internal::scan_any_decimal(start, scale);
  int missing = scale;
  if (*p == '.') {
    ++p;
    for (; missing > 0 && internal::is_digit(*p); --missing) value = value * 10 + static_cast<unsigned>(*p++ - '0');
  }
  if (internal::is_digit(*p) || *p == 'e' || *p == 'E') [[unlikely]]
    return internal::scan_any_decimal(start, scale);
  const auto magnitude = static_cast<std::int64_t>(value) * internal::kPowersOfTen[missing];
  return {is_negative ? -magnitude : magnitude, p, DecimalStatus::kOk};
}

}  // namespace telltale
