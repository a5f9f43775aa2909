// Decimal text turned into integers by shifting its digits, as one would on paper.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale::oracle {

struct ExactInteger {
  enum class Outcome { kFits, kTooLarge, kNotANumber } outcome = Outcome::kNotANumber;
  std::int64_t value = 0;
};

// `text` times ten to the power `shift`, rounded half away from zero: "1.0005" shifted by 3 is 1001. The largest
// magnitude is the same for both signs.
ExactInteger shifted_decimal(std::string_view text, int shift);

}  // namespace telltale::oracle
