#include "replay/event_pattern.h"

namespace telltale {
namespace {

// Where the character at `at` ends: UTF-8 writes some in several bytes.
std::size_t character_end(std::string_view text, std::size_t at) {
  constexpr unsigned char kContinuationMask = 0xC0, kContinuation = 0x80;
  do ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & kContinuationMask) == kContinuation);
  return at;
}

}  // namespace

std::string text_of(const EventPattern& pattern) {
  return pattern.kind ? std::string(name_of(*pattern.kind)) + ':' + pattern.name : pattern.name;
}

// A mismatch goes back to the last * and lets it stand for one character more: no earlier * needs to change.
bool matches_pattern(std::string_view name, std::string_view pattern) {
  std::size_t at = 0, expected = 0;
  std::size_t last_star = std::string_view::npos, star_end = 0;
  while (at < name.size()) {
    if (expected < pattern.size() && pattern[expected] == '*') {
      last_star = expected++;
      star_end = at;
    } else if (expected < pattern.size() && pattern[expected] == '?') {
      at = character_end(name, at);
      ++expected;
    } else if (expected < pattern.size() && pattern[expected] == name[at]) {
      ++at;
      ++expected;
    } else if (last_star != std::string_view::npos) {
      at = star_end = character_end(name, star_end);
      expected = last_star + 1;
    } else {
      return false;
    }
  }
  while (expected < pattern.size() && pattern[expected] == '*') ++expected;
  return expected == pattern.size();
}

bool is_replayed(Kind kind) {
  switch (kind) {
    case Kind::kSync:
    case Kind::kDeviceAnnotation:
    case Kind::kSpan:
    case Kind::kInstant:
    case Kind::kAsync:
      return false;
    default:
      return true;
  }
}

std::vector<EventId> events_matching(const Trace& trace, const StepTiming& timing, const EventPattern& pattern) {
  std::vector<bool> has_name(trace.strings.size());
  for (StringId name = 0; name < has_name.size(); ++name)
    has_name[name] = matches_pattern(trace.strings[name], pattern.name);

  std::vector<EventId> found;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const Kind kind = trace.events.kind[event];
    if (!has_name[trace.events.name[event]] || !is_replayed(kind)) continue;
    if (pattern.kind.value_or(kind) == kind && is_in_steps(trace, timing, event)) found.push_back(event);
  }
  return found;
}

}  // namespace telltale
