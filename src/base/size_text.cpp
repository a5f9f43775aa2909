#include "base/size_text.h"

#include <cctype>
#include <charconv>
#include <string>

namespace telltale {

std::optional<std::uint64_t> parsed_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0)) return std::nullopt;

  std::string unit;
  for (const char* at = end; at != text.data() + text.size(); ++at) {
    unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
  }
  if (unit.ends_with("IB")) {
    unit.resize(unit.size() - 2);
    if (unit.empty()) return std::nullopt;
  } else if (unit.ends_with('B')) {
    unit.pop_back();
  }
  constexpr std::string_view kUnits = "KMGT";
  if (unit.size() > 1 || (unit.size() == 1 && kUnits.find(unit[0]) == std::string_view::npos)) return std::nullopt;
  for (std::size_t i = 0; !unit.empty() && i <= kUnits.find(unit[0]); ++i) number *= 1024;
  if (number >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace telltale
