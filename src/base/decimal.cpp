#include "base/decimal.h"

#include <algorithm>
#include <limits>
#include <string>

namespace telltale {
namespace internal {

Decimal scan_any_decimal(const char* start, int scale) {
  const char* p = start;
  const bool is_negative = *p == '-';
  if (is_negative) ++p;
  if (!is_digit(*p)) return {0, start, DecimalStatus::kNotANumber};
  const char* digits = p;
  while (is_digit(*p)) ++p;
  const char* point = p;
  if (*p == '.') {
    ++p;
    while (is_digit(*p)) ++p;
  }
  const char* digits_end = p;
  std::int64_t exponent = 0;
  if (*p == 'e' || *p == 'E') {
    const char* e = p + 1;
    const bool exponent_is_negative = *e == '-';
    if (*e == '-' || *e == '+') ++e;
    if (is_digit(*e)) {
      constexpr std::int64_t kEndless = 1'000'000'000;
      for (; is_digit(*e); ++e) exponent = std::min(kEndless, exponent * 10 + (*e - '0'));
      if (exponent_is_negative) exponent = -exponent;
      p = e;
    }
  }

  // The digits that count end `kept` places behind the point; the next one decides the rounding.
  const std::int64_t kept = exponent + scale;
  constexpr auto kLimit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t value = 0;
  std::int64_t place = -(point - digits);  // of the digit at hand: the first one behind the point has place 0
  bool is_too_large = false;
  const auto append = [&](int digit) {
    is_too_large |= __builtin_mul_overflow(value, 10u, &value);
    is_too_large |= __builtin_add_overflow(value, static_cast<unsigned>(digit), &value);
    is_too_large |= value > kLimit;
  };
  int rounding_digit = 0;
  for (const char* d = digits; d != digits_end && !is_too_large; ++d) {
    if (d == point) continue;
    if (place < kept) append(*d - '0');
    if (place == kept) rounding_digit = *d - '0';
    ++place;
  }
  for (; place < kept && value != 0 && !is_too_large; ++place) append(0);
  if (rounding_digit >= 5) ++value;
  if (value > kLimit) is_too_large = true;
  if (is_too_large) return {0, p, DecimalStatus::kOutOfRange};
  const auto magnitude = static_cast<std::int64_t>(value);
  return {is_negative ? -magnitude : magnitude, p, DecimalStatus::kOk};
}

}  // namespace internal

Decimal whole_decimal(std::string_view text) {
  constexpr std::string_view kPadding("\0\0\0\0\0\0\0\0", 8);
  const std::string padded = std::string(text).append(kPadding);
  const Decimal number = scan_decimal(padded.data(), 0);
  const bool is_whole = number.end == padded.data() + text.size();
  return {number.value, nullptr, is_whole ? number.status : DecimalStatus::kNotANumber};
}

Unsigned scan_unsigned(const char* start) {
  const char* p = start;
  if (!internal::is_digit(*p)) return {0, start, DecimalStatus::kNotANumber};
  std::uint64_t value = 0;
  bool is_too_large = false;
  for (; internal::is_digit(*p); ++p) {
    is_too_large |= __builtin_mul_overflow(value, 10u, &value);
    is_too_large |= __builtin_add_overflow(value, static_cast<unsigned>(*p - '0'), &value);
  }
  return {value, p, is_too_large ? DecimalStatus::kOutOfRange : DecimalStatus::kOk};
}

}  // namespace telltale
