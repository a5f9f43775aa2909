#include "formats/memory_snapshot/pickle_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/code_points.h"
#include "base/text_encoding.h"

namespace telltale::memory_snapshot {
namespace {

std::optional<std::uint32_t> hex_number(std::string_view digits) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<ValueId> number_in_line(char operation, std::string_view line, Values& values) {
  if (operation == 'I' && line == "00") return kFalse;
  if (operation == 'I' && line == "01") return kTrue;
  if (operation == 'L' && line.ends_with('L')) line.remove_suffix(1);
  const char* end = line.data() + line.size();
  if (operation == 'F') {
    double real = 0;
    const auto parsed = std::from_chars(line.data(), end, real);
    return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(values.real(real)) : std::nullopt;
  }
  std::int64_t number = 0;
  const auto parsed = std::from_chars(line.data(), end, number);
  if (parsed.ptr != end) return std::nullopt;
  if (parsed.ec == std::errc()) return values.integer(number);
  std::uint64_t large = 0;
  if (std::from_chars(line.data(), end, large).ec == std::errc()) {
    std::string bytes(9, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(large >> (8 * i));
    return values.big_integer(bytes);
  }
  // Larger than anything that a snapshot counts: kept as a number that fits nowhere.
  const bool is_negative = line.starts_with('-');
  return values.big_integer(std::string(16, is_negative ? '\x80' : '\x7f'));
}

std::string raw_unicode(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::size_t digits = line[at] != '\\' || at + 1 == line.size() ? 0
                               : line[at + 1] == 'u'                     ? 4
                               : line[at + 1] == 'U'                     ? 8
                                                                         : 0;
    const auto code = digits > 0 && at + 2 + digits <= line.size() ? hex_number(line.substr(at + 2, digits))
                                                                   : std::optional<std::uint32_t>();
    if (code && *code < 0x110000) {
      append_utf8(text, *code);
      at += 1 + digits;
    } else {
      append_utf8(text, static_cast<unsigned char>(line[at]));
    }
  }
  return text;
}

std::optional<std::string> quoted_text(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"'))
    return std::nullopt;
  line = line.substr(1, line.size() - 2);
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      text += line[at];
      continue;
    }
    const char escape = line[++at];
    if (escape == 'x' && at + 2 < line.size()) {
      if (const auto code = hex_number(line.substr(at + 1, 2))) text += static_cast<char>(*code);
      at += 2;
      continue;
    }
    text += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape == 'r' ? '\r' : escape;
  }
  return text;
}

std::optional<std::string> latin1_bytes(std::string_view utf8) {
  std::string bytes;
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    if (byte < 0x80) {
      bytes += utf8[at];
    } else if ((byte == 0xC2 || byte == 0xC3) && at + 1 < utf8.size()) {
      bytes += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(utf8[++at]) & 0x3F));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string start = repaired_utf8(text.substr(0, kLongest));
  if (text.size() > kLongest) start += "…";
  std::ranges::replace_if(start, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return start;
}

}  // namespace telltale::memory_snapshot
