#include "json_pieces.h"

#include <nlohmann/json.hpp>

namespace telltale::oracle {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The position after the string that starts at `at`.
std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

// The texts between the commas of an object's or array's own level.
std::vector<std::string_view> parts_of(std::string_view raw) {
  std::vector<std::string_view> parts;
  const std::size_t last = raw.size() - 1;
  std::size_t begin = 1;
  int depth = 0;
  for (std::size_t at = 1; at < last;) {
    const char c = raw[at];
    if (c == '"') {
      at = after_string(raw, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(raw.substr(begin, at - begin)));
      begin = at + 1;
    }
    ++at;
  }
  const std::string_view tail = trimmed(raw.substr(begin, last - begin));
  if (!tail.empty()) parts.push_back(tail);
  return parts;
}

}  // namespace

bool is_valid_json(std::string_view text) {
  const bool has_end_mark = text.find('\0') != std::string_view::npos;  // which nlohmann-json takes for the end
  return !has_end_mark && nlohmann::json::accept(text.begin(), text.end());
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> elements_of(std::string_view raw_array) { return parts_of(raw_array); }

std::vector<JsonMember> members_of(std::string_view raw_object) {
  std::vector<JsonMember> members;
  for (const std::string_view part : parts_of(raw_object)) {
    const std::size_t key_end = after_string(part, 0);
    const std::size_t colon = part.find(':', key_end);
    const std::string_view raw_key = part.substr(0, key_end);
    members.push_back({*decoded_string(raw_key), raw_key, trimmed(part.substr(colon + 1))});
  }
  return members;
}

bool is_object(std::string_view raw) { return raw.starts_with('{'); }
bool is_array(std::string_view raw) { return raw.starts_with('['); }
bool is_string(std::string_view raw) { return raw.starts_with('"'); }
bool is_number(std::string_view raw) { return raw.starts_with('-') || (raw[0] >= '0' && raw[0] <= '9'); }

std::optional<std::string> decoded_string(std::string_view raw) {
  if (!is_string(raw)) return std::nullopt;
  return nlohmann::json::parse(raw.begin(), raw.end()).get<std::string>();
}

std::string_view unquoted(std::string_view raw) { return is_string(raw) ? raw.substr(1, raw.size() - 2) : raw; }

std::string compact(std::string_view raw) {
  std::string text;
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '"') {
      const std::size_t end = after_string(raw, at);
      text += raw.substr(at, end - at);
      at = end;
    } else {
      if (!is_space(raw[at])) text += raw[at];
      ++at;
    }
  }
  return text;
}

std::optional<std::string_view> find(const std::vector<JsonMember>& members, std::string_view key) {
  std::optional<std::string_view> found;
  for (const JsonMember& member : members)
    if (member.key == key) found = member.raw;
  return found;
}

}  // namespace telltale::oracle
