#include "advise/needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "advise/diagnosis.h"
#include "advise/rule_info.h"
#include "analysis/host_work.h"
#include "trace/own_recordings.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

// What `telltale record` and what torch's profiler call it when it is to be recorded; empty where there is no such
// option.
struct OptionNames {
  std::string_view command, profiler;
};

OptionNames options_for(Need need) {
  constexpr std::array<OptionNames, kNeedCount> kOptions = {{
      {"", ""},
      {"--shapes", "record_shapes=True"},
      {"--stacks", "with_stack=True"},
      {"--memory", "profile_memory=True"},
      {"", "with_modules=True"},
      {"", "with_stack=True"},
      {"", ""},
      {"", ""},
  }};
  return kOptions[static_cast<std::size_t>(need)];
}

// In what our recorder was asked for: the command had asked, and no program.
constexpr std::string_view kByCommand = "find_steps\":true";

// Also where torch's profiler recorded at the command's request.
bool is_by_command(const Trace& trace) {
  const std::string* const asked = trace.metadata_named(kAskedFor);
  return (asked != nullptr && asked->contains(kByCommand)) || trace.metadata_named(kTimedSteps) != nullptr;
}

bool has(Need need, const Trace& trace, const Diagnosis& diagnosis) {
  switch (need) {
    case Need::kDevice:
      return diagnosis.breakdown.has_device;
    case Need::kShapes:
      return trace.recorded.shapes;
    case Need::kStacks:
      return trace.recorded.stacks;
    case Need::kMemory:
      return trace.recorded.memory;
    case Need::kModules:
      return trace.recorded.modules;
    case Need::kCollections:
      return trace.metadata_named(kAskedFor) != nullptr;
    case Need::kSteps:
      return diagnosis.timing.steps.size() >= kStepsNeeded;
    case Need::kGauges:
      return diagnosis.energy.has_value();
  }
  return true;
}

std::string remedy_for(const std::vector<Need>& lacking, const Trace& trace) {
  const bool is_command = is_by_command(trace);
  std::vector<std::string_view> options;
  for (const Need need : lacking) {
    const std::string_view option = is_command ? options_for(need).command : options_for(need).profiler;
    if (!option.empty() && std::ranges::find(options, option) == options.end()) options.push_back(option);
  }
  if (options.empty()) return {};
  return is_command ? fmt::format("telltale record {}", fmt::join(options, " "))
                    : fmt::format("profile({})", fmt::join(options, ", "));
}

void add_once(std::vector<Need>& needs, Need need) {
  if (std::ranges::find(needs, need) == needs.end()) needs.push_back(need);
}

}  // namespace

std::string_view name_of(Need need) {
  constexpr std::array<std::string_view, kNeedCount> kNames = {"device",  "shapes",      "stacks", "memory",
                                                               "modules", "collections", "steps",  "gauges"};
  return kNames[static_cast<std::size_t>(need)];
}

Look looked_at(const Trace& trace, const Diagnosis& diagnosis, const std::vector<std::string>& rules) {
  Look look;
  if (!uses_framework(trace)) return look;
  for (const RuleInfo& rule : rule_infos()) {
    if (!rules.empty() && std::ranges::find(rules, rule.id) == rules.end()) continue;
    BlindRule blind{rule.id, rule.title, {}};
    bool applies = true;
    for (const Alternatives& any : rule.cannot_do_without) {
      const auto is_there = [&](Need need) { return has(need, trace, diagnosis); };
      if (std::ranges::any_of(any, is_there)) continue;
      applies &= any.front() != Need::kDevice && any.front() != Need::kGauges;
      blind.lacks.push_back(any.front());
    }
    if (!applies) continue;
    if (blind.lacks.empty()) {
      ++look.rules;
      continue;
    }
    for (const Need need : blind.lacks) add_once(look.lacking, need);
    look.blind.push_back(std::move(blind));
  }
  std::ranges::sort(look.lacking);
  look.remedy = remedy_for(look.lacking, trace);
  return look;
}

}  // namespace telltale
