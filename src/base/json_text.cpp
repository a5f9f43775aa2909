#include "base/json_text.h"

#include <algorithm>

#include "base/code_points.h"
#include "base/text_encoding.h"

namespace telltale {
namespace {

std::optional<std::uint32_t> four_hex_digits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    value <<= 4;
    if (c >= '0' && c <= '9')
      value |= static_cast<std::uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value |= static_cast<std::uint32_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      value |= static_cast<std::uint32_t>(c - 'A' + 10);
    else
      return std::nullopt;
  }
  return value;
}

bool is_high_surrogate(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

// The escape at the start of `text`, a backslash. Returns the bytes it takes, 0 when it is none.
std::size_t append_escape(std::string& out, std::string_view text, Repairs& repairs) {
  if (text.size() < 2) return 0;
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (const auto at = kLetters.find(text[1]); at != std::string_view::npos) {
    out += kMeanings[at];
    return 2;
  }
  const auto code = text[1] == 'u' ? four_hex_digits(text.substr(2)) : std::nullopt;
  if (!code) return 0;
  if (is_high_surrogate(*code) && text.substr(6).starts_with("\\u")) {
    const auto low = four_hex_digits(text.substr(8));
    if (low && is_low_surrogate(*low)) {
      append_utf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
      return 12;
    }
  }
  const bool is_lone = is_high_surrogate(*code) || is_low_surrogate(*code);
  repairs.invalid_utf8 |= is_lone;
  append_utf8(out, is_lone ? kReplacementCharacter : *code);
  return 6;
}

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

bool is_json_number(std::string_view text) {
  const auto digits = [&] {
    std::size_t n = 0;
    while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
    text.remove_prefix(n);
    return n;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool starts_with_zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (starts_with_zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

// Copies a value while checking it, with a stack of its own for the open brackets.
class Compactor {
 public:
  explicit Compactor(std::string_view text) : rest_(text) {}

  std::optional<std::string> run() {
    do {
      if (!value()) return std::nullopt;
      while (!open_.empty() && next_is(closing())) {
        take();
        open_.pop_back();
      }
      if (open_.empty()) break;
      if (!next_is(',')) return std::nullopt;
      take();
      if (closing() == '}' && !key()) return std::nullopt;
    } while (true);
    skip_space();
    if (!rest_.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // A scalar, an empty bracket, or everything up to the first scalar inside brackets.
  bool value() {
    for (;;) {
      skip_space();
      if (rest_.empty()) return false;
      if (rest_.front() == '"') return string();
      if (rest_.front() != '[' && rest_.front() != '{') return bare_word();
      open_ += take() == '[' ? ']' : '}';
      if (next_is(closing())) {
        take();
        open_.pop_back();
        return true;
      }
      if (closing() == '}' && !key()) return false;
    }
  }

  bool key() {
    skip_space();
    if (!next_is('"') || !string() || !next_is(':')) return false;
    take();
    return true;
  }

  bool string() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return false;
    append_string(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return true;
  }

  void append_string(std::string_view inside) {
    constexpr char kHex[] = "0123456789abcdef";
    const bool is_clean = is_utf8(inside);
    const std::string repaired = is_clean ? std::string() : repaired_utf8(inside);
    out_ += '"';
    std::string_view text = is_clean ? inside : std::string_view(repaired);
    while (!text.empty()) {
      const auto c = static_cast<unsigned char>(text.front());
      std::size_t taken = 1;
      if (c == '\\') {
        std::string ignored;
        Repairs repairs;
        taken = append_escape(ignored, text, repairs);
        out_ += taken == 0 ? "\\\\" : text.substr(0, taken);
        taken = std::max<std::size_t>(taken, 1);
      } else if (c < ' ') {
        out_ += "\\u00";
        out_ += kHex[c >> 4];
        out_ += kHex[c & 15];
      } else {
        out_ += text.front();
      }
      text.remove_prefix(taken);
    }
    out_ += '"';
  }

  bool bare_word() {
    std::size_t end = 0;
    while (end < rest_.size() && !is_space(rest_[end]) &&
           std::string_view(",:[]{}\"").find(rest_[end]) == std::string_view::npos)
      ++end;
    const std::string_view word = rest_.substr(0, end);
    if (word.empty()) return false;
    if (word == "true" || word == "false" || word == "null" || is_json_number(word))
      out_ += word;
    else
      append_string(word);
    rest_.remove_prefix(end);
    return true;
  }

  char closing() const { return open_.back(); }
  bool next_is(char c) {
    skip_space();
    return !rest_.empty() && rest_.front() == c;
  }
  char take() {
    const char c = rest_.front();
    out_ += c;
    rest_.remove_prefix(1);
    return c;
  }
  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string out_;
  std::string open_;  // the closing brackets that are still to come
};

}  // namespace

std::string unescaped(std::string_view inside, Repairs& repairs) {
  std::string out;
  out.reserve(inside.size());
  while (!inside.empty()) {
    if (inside.front() == '\\') {
      const std::size_t taken = append_escape(out, inside, repairs);
      if (taken > 0) {
        inside.remove_prefix(taken);
        continue;
      }
      repairs.invalid_escape = true;
    }
    repairs.control_character |= is_space(inside.front()) && inside.front() != ' ';
    out += inside.front();
    inside.remove_prefix(1);
  }
  if (is_utf8(out)) return out;
  repairs.invalid_utf8 = true;
  return repaired_utf8(out);
}

std::optional<std::string> compact_json(std::string_view text) { return Compactor(text).run(); }

}  // namespace telltale
