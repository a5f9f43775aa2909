#include "exact_decimal.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace telltale::oracle {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string take_digits(std::string_view& text) {
  std::string digits;
  while (!text.empty() && is_digit(text.front())) {
    digits += text.front();
    text.remove_prefix(1);
  }
  return digits;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Adds one to a non-empty string of digits, in its last place.
void increment(std::string& digits) {
  std::size_t at = digits.size();
  while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
  if (at == 0)
    digits.insert(digits.begin(), '1');
  else
    ++digits[at - 1];
}

}  // namespace

ExactInteger shifted_decimal(std::string_view text, int shift) {
  using Outcome = ExactInteger::Outcome;
  const bool is_negative = take(text, '-');
  std::string digits = take_digits(text);
  if (digits.empty()) return {};
  long point = static_cast<long>(digits.size());
  if (take(text, '.')) {
    const std::string fraction = take_digits(text);
    if (fraction.empty()) return {};
    digits += fraction;
  }
  long exponent = 0;
  if (take(text, 'e') || take(text, 'E')) {
    const bool is_small = take(text, '-');
    if (!is_small) take(text, '+');
    const std::string power = take_digits(text);
    if (power.empty()) return {};
    for (const char c : power) exponent = std::min(exponent * 10 + (c - '0'), 1'000'000L);
    if (is_small) exponent = -exponent;
  }
  if (!text.empty()) return {};

  const std::size_t leading_zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, leading_zeros);
  point += exponent + shift - static_cast<long>(leading_zeros);
  if (digits.empty() || point < 0) return {Outcome::kFits, 0};
  if (point > 19) return {Outcome::kTooLarge, 0};

  const auto whole_places = static_cast<std::size_t>(point);
  const bool rounds_up = digits.size() > whole_places && digits[whole_places] >= '5';
  digits.resize(whole_places, '0');
  if (rounds_up) increment(digits);
  std::int64_t value = 0;
  for (const char c : digits)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
      return {Outcome::kTooLarge, 0};
  return {Outcome::kFits, is_negative ? -value : value};
}

}  // namespace telltale::oracle
