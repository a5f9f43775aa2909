#include "base/amounts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace telltale {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr std::array<Unit, 6> kTimeUnits = {
    {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}}};
constexpr std::array<Unit, 6> kByteUnits = {
    {{"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}}};
constexpr std::array<Unit, 7> kFlopUnits = {
    {{"FLOP", 1}, {"KFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}}};

// Three significant digits, or all of them before the point.
std::string digits(double value) {
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// In the largest unit of which there is at least one, as rounded to three digits.
std::string in_units(std::int64_t amount, std::span<const Unit> units) {
  if (amount == 0) return fmt::format("0 {}", units.front().name);
  const double value = static_cast<double>(amount);
  std::size_t unit = 0;
  while (unit + 1 < units.size()) {
    const double in_this = std::abs(value) / units[unit].size;
    const double in_next = std::abs(value) / units[unit + 1].size;
    if (in_next < 0.9995 || (in_next < 1 && in_this < 999.5)) break;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} {}", amount, units[0].name);
  return fmt::format("{} {}", digits(value / units[unit].size), units[unit].name);
}

// Counts by step are averages: "12.5", but "3" where rounding hides nothing.
std::string count_text(double count) {
  const double whole = std::round(count);
  return format_number(std::abs(count - whole) < 0.005 ? whole : count);
}

}  // namespace

std::string format_time(Nanoseconds time) { return in_units(time, kTimeUnits); }
std::string format_bytes(double bytes) { return in_units(static_cast<std::int64_t>(std::round(bytes)), kByteUnits); }
std::string format_flops(std::int64_t operations) { return in_units(operations, kFlopUnits); }

std::string format_count(std::int64_t count) {
  const std::string digits_only = std::to_string(count);
  std::string text;
  for (std::size_t at = 0; at < digits_only.size(); ++at) {
    const std::size_t left = digits_only.size() - at;
    const bool is_inside = at > (count < 0 ? 1U : 0U);
    if (is_inside && left % 3 == 0) text += ',';
    text += digits_only[at];
  }
  return text;
}

std::string format_number(double number) {
  constexpr double kLargestWhole = 1e15;
  const double size = std::abs(number);
  if (size < kLargestWhole && (number == std::round(number) || size >= 999.5)) {
    return format_count(static_cast<std::int64_t>(std::round(number)));
  }
  return size < 1 || size >= kLargestWhole ? fmt::format("{:.3g}", number) : digits(number);
}

std::string format_share(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string percent_digits(double percent) {
  const bool is_small = std::abs(percent) < 9.95 && percent != 0;
  return is_small ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
}

std::string format_percent(double percent) { return percent_digits(percent) + " %"; }

std::string counted(double count, std::string_view noun, std::string_view plural) {
  const std::string number = count_text(count);
  if (number == "1") return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, plural);
}

std::string how_often(double count) {
  const std::string number = count_text(count);
  if (number == "1") return "once";
  return number == "2" ? "twice" : number + " times";
}

std::string listed(std::span<const std::string> words, std::string_view last_joined_by) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : fmt::format(" {} ", last_joined_by);
    text += words[i];
  }
  return text;
}

}  // namespace telltale
