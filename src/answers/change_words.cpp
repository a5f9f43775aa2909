#include "answers/change_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "answers/suggestion.h"
#include "base/amounts.h"

namespace telltale::answers {
namespace {

// The names of the trace's events, those of host and device that a replay runs.
std::vector<std::string> names_in(const Trace& trace) {
  std::set<StringId> names;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_replayed(trace.events.kind[event])) names.insert(trace.events.name[event]);
  std::vector<std::string> texts;
  for (const StringId name : names) texts.emplace_back(trace.strings[name]);
  return texts;
}

std::string why_no_match(const EventPattern& pattern, const Trace& trace) {
  const std::string sentence = "nothing in the steps matches '" + text_of(pattern) + "'";
  const std::size_t colon = pattern.name.find(':');
  const std::string before = pattern.name.substr(0, colon);
  if (!pattern.kind && colon != std::string::npos && pattern.name.substr(colon, 2) != "::") {
    std::vector<std::string> kinds;
    for (int i = 0; i < kKindCount; ++i) kinds.emplace_back(name_of(static_cast<Kind>(i)));
    if (const std::string near = suggestion(before, kinds); !near.empty()) return sentence + near;
  }
  if (pattern.name.find_first_of("*?") == std::string::npos) {
    const std::string near = suggestion(pattern.name, names_in(trace));
    return sentence + (near.empty() ? "; a name must match in full, and * stands for any text" : near);
  }
  return sentence;
}

std::vector<std::string> replayed_kinds() {
  std::vector<std::string> kinds;
  for (int i = 0; i < kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (is_replayed(kind)) kinds.emplace_back(name_of(kind));
  }
  return kinds;
}

Result<PatternChange> checked(PatternChange change, const std::string& words) {
  if (change.pattern.name.empty()) return failure(words + " has no name to match; * matches all");
  if (change.pattern.kind && !is_replayed(*change.pattern.kind)) {
    return failure(fmt::format("{} matches no time to change: events of kind {} take none of their own; choose {}",
                               words, name_of(*change.pattern.kind), listed(replayed_kinds(), "or")));
  }
  return change;
}

}  // namespace

EventPattern parsed_pattern(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool has_single_colon = colon != std::string_view::npos && !text.substr(colon + 1).starts_with(':');
  const std::optional<Kind> kind = has_single_colon ? kind_named(text.substr(0, colon)) : std::nullopt;
  return {kind, std::string(kind ? text.substr(colon + 1) : text)};
}

std::optional<PatternChange> parsed_scaling(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  const std::string_view number = text.substr(equals + 1);
  double factor = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
  if (error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  if (std::isnan(factor) || factor < 0 || factor > kLargestFactor) return std::nullopt;
  return PatternChange{parsed_pattern(text.substr(0, equals)), factor};
}

std::string kinds_that_are_replayed() { return listed(replayed_kinds(), "or"); }

Result<PatternChange> removal_of(const std::string& text, Spelling spelling) {
  return checked({parsed_pattern(text), 0}, spelled(spelling, "remove", text));
}

Result<PatternChange> scaling_of(const std::string& text, Spelling spelling) {
  const std::string words = spelled(spelling, "scale", text);
  auto scaling = parsed_scaling(text);
  if (!scaling)
    return failure(words + " is not PATTERN=FACTOR with a factor from 0 to " + format_number(kLargestFactor));
  return checked(*std::move(scaling), words);
}

std::string why_no_match(const WhatIf& answer, const Trace& trace) {
  for (std::size_t i = 0; i < answer.reach.size(); ++i) {
    if (answer.reach[i].calls == 0 && answer.reach[i].device_work == 0)
      return why_no_match(answer.changes.patterns[i].pattern, trace);
  }
  return {};
}

}  // namespace telltale::answers
