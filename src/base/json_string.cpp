#include "base/json_string.h"

#include <array>

#include "base/utf8.h"

namespace telltale {
namespace {

enum class Treatment : char { kAsItIs, kEscape, kCheck };

constexpr std::array<Treatment, 256> kTreatments = [] {
  std::array<Treatment, 256> treatments{};
  for (unsigned c = 0; c < 256; ++c)
    treatments[c] = c < ' ' || c == '"' || c == '\\' || c == 0x7F ? Treatment::kEscape
                    : c >= 0x80                                   ? Treatment::kCheck
                                                                  : Treatment::kAsItIs;
  return treatments;
}();

Treatment treatment_of(char c) { return kTreatments[static_cast<unsigned char>(c)]; }

void append_escape(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  if (const auto at = kShort.find(c); at != std::string_view::npos) {
    out += '\\';
    out += kLetters[at];
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u00";
  out += kDigits[static_cast<unsigned char>(c) >> 4];
  out += kDigits[static_cast<unsigned char>(c) & 15];
}

// All that is to be checked has been.
void append_escaped(std::string& out, std::string_view text) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (treatment_of(text[i]) != Treatment::kEscape) continue;
    out.append(text, from, i - from);
    append_escape(out, text[i]);
    from = i + 1;
  }
  out.append(text, from);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  std::size_t plain = 0;
  while (plain < text.size() && treatment_of(text[plain]) == Treatment::kAsItIs) ++plain;
  out += '"';
  if (plain == text.size()) {
    out += text;
  } else if (is_utf8(text)) {
    append_escaped(out, text);
  } else {
    append_escaped(out, repaired_utf8(text));
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace telltale
