// Guessing where events start, to cut the text into blocks and to go on after an event that is no JSON.
#include <algorithm>
#include <cstring>

#include "formats/kineto/block_parser.h"

namespace telltale::kineto {
namespace {

constexpr std::string_view kEventKeys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp", "s"};

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Whether the bracket at `at` follows "},".
bool follows_an_object(std::string_view text, std::size_t at) {
  const auto back_over_space = [&] {
    while (at > 0 && is_space(text[at - 1])) --at;
  };
  back_over_space();
  if (at == 0 || text[at - 1] != ',') return false;
  --at;
  back_over_space();
  return at > 0 && text[at - 1] == '}';
}

bool precedes_an_event_key(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && is_space(text[at])) ++at;
  if (at >= text.size() || text[at] != '"') return false;
  const std::string_view rest = text.substr(at + 1);
  return std::any_of(std::begin(kEventKeys), std::end(kEventKeys), [&](std::string_view key) {
    return rest.size() > key.size() && rest.starts_with(key) && rest[key.size()] == '"';
  });
}

bool is_event_start(std::string_view text, std::size_t at) {
  return follows_an_object(text, at) && precedes_an_event_key(text, at);
}

}  // namespace

std::size_t find_event_start(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1))
    if (is_event_start(text, at)) return at;
  return std::string_view::npos;
}

std::size_t find_last_event_start(std::string_view text) {
  for (std::size_t at = text.rfind('{'); at != std::string_view::npos && at > 0; at = text.rfind('{', at - 1))
    if (is_event_start(text, at)) return at;
  return std::string_view::npos;
}

std::size_t find_list_end(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(']', from); at != std::string_view::npos; at = text.find(']', at + 1)) {
    std::size_t before = at;
    while (before > 0 && is_space(text[before - 1])) --before;
    if (before > 0 && text[before - 1] == '}') return at;
  }
  return std::string_view::npos;
}

}  // namespace telltale::kineto
