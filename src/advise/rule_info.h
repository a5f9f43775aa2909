// What each rule is about, for people: what `--explain` prints and docs/rules.md lists.
#pragma once

#include <span>
#include <string_view>

namespace telltale {

struct RuleInfo {
  std::string_view id;         // "host_sync"
  std::string_view title;      // a few words, as a heading
  std::string_view looks_for;  // sentences, likewise below: the pattern in the trace
  std::string_view needs;      // what must have been recorded
  std::string_view saving;     // how it is computed
  std::string_view held;       // how the predictions compared with measurements
};

// All rules, in the order of the documentation.
std::span<const RuleInfo> rule_infos();

}  // namespace telltale
