#include "answers/time_text.h"

#include <utility>

namespace telltale::answers {
namespace {

constexpr Nanoseconds kLongest = Nanoseconds{100} * 365 * 86'400 * 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The nanoseconds of a unit; 0 when it is none.
Nanoseconds length_of(std::string_view unit) {
  constexpr std::pair<std::string_view, Nanoseconds> kUnits[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000},
                                                                 {"µs", 1000},         {"μs", 1000},      {"ns", 1}};
  for (const auto& [name, length] : kUnits)
    if (unit == name) return length;
  return 0;
}

}  // namespace

std::optional<Nanoseconds> parsed_time(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  const Nanoseconds unit = length_of(text.substr(end));
  if (unit == 0) return std::nullopt;
  const std::string_view number = text.substr(0, end);
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? std::string_view() : number.substr(point + 1);
  if ((whole.empty() && fraction.empty()) || fraction.find('.') != std::string_view::npos) return std::nullopt;

  Nanoseconds time = 0;
  for (const char digit : whole) {
    const Nanoseconds added = (digit - '0') * unit;
    if (time > (kLongest - added) / 10) return std::nullopt;
    time = time * 10 + added;
  }
  Nanoseconds place = unit;
  for (const char digit : fraction) time += (digit - '0') * (place /= 10);
  return time;
}

}  // namespace telltale::answers
