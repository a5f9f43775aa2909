#include "advise/amounts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace telltale {
namespace {

std::string with_three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

}  // namespace

std::string duration_in_words(Nanoseconds time) {
  const auto ns = static_cast<double>(time);
  if (ns >= 999.5e6) return with_three_digits(ns / 1e9) + " s";
  return ns >= 999.5e3 ? with_three_digits(ns / 1e6) + " ms" : with_three_digits(ns / 1e3) + " µs";
}

std::string size_in_words(double bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {" KiB", " MiB", " GiB", " TiB"};
  if (bytes < 1000) return fmt::format("{:.0f} bytes", bytes);
  double value = bytes / 1024;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return with_three_digits(value) + std::string(kUnits[unit]);
}

std::string count_in_words(double count) {
  if (count >= 99.95 || std::abs(count - std::round(count)) < 0.005) return fmt::format("{:.0f}", count);
  return fmt::format("{:.3g}", count);
}

std::string counted_in_words(double count, std::string_view noun) {
  const std::string number = count_in_words(count);
  return fmt::format("{} {}{}", number, noun, number == "1" ? "" : "s");
}

}  // namespace telltale
