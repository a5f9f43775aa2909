#include "words/event_pattern_text.h"

#include <charconv>
#include <cmath>

namespace telltale {

EventPattern parsed_pattern(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool has_single_colon = colon != std::string_view::npos && !text.substr(colon + 1).starts_with(':');
  const std::optional<Kind> kind = has_single_colon ? kind_named(text.substr(0, colon)) : std::nullopt;
  return {kind, std::string(kind ? text.substr(colon + 1) : text)};
}

std::optional<PatternChange> parsed_scaling(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  const std::string_view number = text.substr(equals + 1);
  double factor = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
  if (error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  if (!std::isfinite(factor) || factor < 0) return std::nullopt;
  return PatternChange{parsed_pattern(text.substr(0, equals)), factor};
}

}  // namespace telltale
