// JSON numbers as exact decimals: a time of 3848178908617.106 µs is 3848178908617106 ns, which no double holds.
#pragma once

#include <cstdint>

namespace telltale::kineto {

enum class DecimalStatus : std::uint8_t { kOk, kNotANumber, kOutOfRange };

struct Decimal {
  std::int64_t value = 0;
  const char* end = nullptr;  // behind the number; where it starts when it is none
  DecimalStatus status = DecimalStatus::kNotANumber;
};

// The number at `p` times ten to the power of `scale`, rounded half away from zero. The text must be followed by a
// byte that belongs to no number (see scan.h).
Decimal scan_decimal(const char* p, int scale);

// The same for a number without sign that may use all 64 bits, such as an address.
struct Unsigned {
  std::uint64_t value = 0;
  const char* end = nullptr;
  DecimalStatus status = DecimalStatus::kNotANumber;
};
Unsigned scan_unsigned(const char* p);

}  // namespace telltale::kineto
