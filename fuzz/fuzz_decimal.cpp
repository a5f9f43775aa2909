// Numbers, against arithmetic on their digits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "exact_decimal.h"
#include "require.h"

namespace {

using telltale::DecimalStatus;
using telltale::fuzzing::require;
using telltale::oracle::ExactInteger;

// "5." and "5.e3" are read as 5 and 5e3, though JSON does not allow them.
std::string without_bare_point(std::string_view number) {
  std::string text(number);
  const std::size_t point = text.find('.');
  const bool is_bare =
      point != std::string::npos && (point + 1 == text.size() || text[point + 1] < '0' || text[point + 1] > '9');
  if (is_bare) text.erase(point, 1);
  return text;
}

void check(std::string_view text, int scale) {
  const std::string padded = std::string(text) + std::string(8, '"');
  const auto fast = telltale::scan_decimal(padded.data(), scale);
  const auto length = static_cast<std::size_t>(fast.end - padded.data());
  require(length <= text.size(), "a number ends in the text");
  if (fast.status == DecimalStatus::kNotANumber) return require(length == 0, "what is no number has no length");
  const std::string number = without_bare_point(text.substr(0, length));
  const ExactInteger slow = telltale::oracle::shifted_decimal(number, scale);
  const bool fits = slow.outcome == ExactInteger::Outcome::kFits;
  require(slow.outcome != ExactInteger::Outcome::kNotANumber, "what was read is a number: " + number);
  require(fits == (fast.status == DecimalStatus::kOk), "both know whether it fits: " + number);
  require(!fits || slow.value == fast.value, "both read " + number);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const int scale : {0, 3}) check(text, scale);
  return 0;
}
