#include "words/change_words.h"

#include <set>
#include <vector>

#include "words/suggestion.h"

namespace telltale {
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
    return sentence + (near.empty() ? "; a name counts as a whole, and * stands for any text" : near);
  }
  return sentence;
}

}  // namespace

std::string kinds_that_are_replayed() {
  std::string words;
  for (int i = 0; i < kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (is_replayed(kind)) words.append(words.empty() ? "" : ", ").append(name_of(kind));
  }
  return words;
}

Result<PatternChange> checked(PatternChange change) {
  if (change.pattern.name.empty()) return failure("a pattern needs a name; * matches all");
  if (change.pattern.kind && !is_replayed(*change.pattern.kind)) {
    return failure("events of the kind " + std::string(name_of(*change.pattern.kind)) +
                   " take no time of their own; there are " + kinds_that_are_replayed());
  }
  return change;
}

std::string why_no_match(const WhatIf& answer, const Trace& trace) {
  for (std::size_t i = 0; i < answer.reach.size(); ++i) {
    if (answer.reach[i].calls == 0 && answer.reach[i].device_work == 0)
      return why_no_match(answer.changes.patterns[i].pattern, trace);
  }
  return {};
}

}  // namespace telltale
