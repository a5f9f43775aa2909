#include "base/utf8.h"

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

}  // namespace telltale
