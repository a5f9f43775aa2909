#include "report/text_width.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace telltale {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};

// Lenient: a byte that starts no valid sequence stands for itself.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 1;
  char32_t value = lead;
  if (lead >= 0xF0) {
    length = 4;
    value = lead & 0x07U;
  } else if (lead >= 0xE0) {
    length = 3;
    value = lead & 0x0FU;
  } else if (lead >= 0xC0) {
    length = 2;
    value = lead & 0x1FU;
  }
  if (length > text.size()) return {lead, 1};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {lead, 1};
    value = value << 6 | (byte(i) & 0x3FU);
  }
  return {value, length};
}

struct Range {
  char32_t first, last;
};
constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 4> kCombining = {{{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};

bool is_in(std::span<const Range> ranges, char32_t value) {
  for (const Range& range : ranges) {
    if (range.first <= value && value <= range.last) return true;
  }
  return false;
}

std::size_t width_of(char32_t value) {
  if (value < 0x300) return 1;
  if (is_in(kCombining, value)) return 0;
  return is_in(kWide, value) ? 2 : 1;
}

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7F && value < 0xA0); }
// Marks that reorder or hide the text around them.
bool is_directional(char32_t value) {
  return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    width += width_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const bool is_break = point.value == '\n' || point.value == '\r' || point.value == '\t';
    if (is_break) {
      clean += ' ';
    } else if (is_control(point.value) || is_directional(point.value)) {
      clean += "·";
    } else {
      clean += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return clean;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t kept = 0, columns = 0;
  while (kept < text.size()) {
    const CodePoint point = first_code_point(text.substr(kept));
    if (columns + width_of(point.value) > width - 1) break;
    columns += width_of(point.value);
    kept += point.bytes;
  }
  return std::string(text.substr(0, kept)) + "…";
}

std::vector<std::string> wrapped_words(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word = cut_to_width(text.substr(0, end), width);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (lines.back().empty()) {
      lines.back() = word;
    } else if (display_width(lines.back()) + 1 + display_width(word) <= width) {
      lines.back().append(" ").append(word);
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string paragraph_of(std::string_view text, std::size_t width, std::string_view indent) {
  std::string lines;
  for (const std::string& line : wrapped_words(text, width - std::min(width, indent.size())))
    lines.append(indent).append(line).append("\n");
  return lines;
}

std::string padded_left(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ').append(text);
}

std::string padded_right(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(text).append(width > taken ? width - taken : 0, ' ');
}

}  // namespace telltale
