#include "words/step_range_text.h"

#include <charconv>

namespace telltale {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<StepRange> parsed_step_range(std::string_view text) {
  constexpr std::string_view kTo = "..";
  StepRange range;
  const std::size_t to = text.find(kTo);
  const std::string_view first = text.substr(0, to);
  const std::string_view last = to == std::string_view::npos ? first : text.substr(to + kTo.size());
  if (first.empty() && last.empty()) return std::nullopt;
  if (!first.empty()) {
    const auto number = whole_number(first);
    if (!number) return std::nullopt;
    range.first = *number;
  }
  if (!last.empty()) {
    const auto number = whole_number(last);
    if (!number) return std::nullopt;
    range.last = *number;
  }
  if (range.last < range.first) return std::nullopt;
  return range;
}

}  // namespace telltale
