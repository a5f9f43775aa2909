#include "base/text_encoding.h"

#include <array>
#include <cstddef>

namespace telltale {
namespace {

struct Sequence {
  std::size_t length;  // bytes to take: a whole character, or the invalid part
  bool is_valid;
};

// The character or the maximal invalid part at the start of `text`, which is not empty. The ranges of the second
// byte exclude overlong forms, surrogates and what lies beyond U+10FFFF (Unicode, table 3-7).
Sequence first_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Sequence next = first_sequence(text);
    if (!next.is_valid) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

std::string repaired_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string repaired;
  repaired.reserve(text.size());
  while (!text.empty()) {
    const Sequence next = first_sequence(text);
    repaired += next.is_valid ? text.substr(0, next.length) : kReplacement;
    text.remove_prefix(next.length);
  }
  return repaired;
}

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

void append_csv_field(std::string& out, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace telltale
