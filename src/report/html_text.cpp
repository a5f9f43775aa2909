#include "report/html_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text_encoding.h"
#include "report/text_width.h"

namespace telltale {
namespace {

std::string_view entity_of(char each) {
  switch (each) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

std::string with_entities(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char each : text) {
    const std::string_view entity = entity_of(each);
    if (entity.empty()) {
      escaped += each;
    } else {
      escaped += entity;
    }
  }
  return escaped;
}

}  // namespace

std::string html_escaped(std::string_view text) { return with_entities(printable(repaired_utf8(text))); }

std::string html_cut(std::string_view text, std::size_t columns) {
  return with_entities(cut_to_width(printable(repaired_utf8(text)), columns));
}

std::string html_number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace telltale
