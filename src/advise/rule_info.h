// What each rule is about, for people: what `--explain` prints and docs/rules.md lists.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/needs.h"

namespace telltale {

struct RuleInfo {
  std::string id = {};                       // "host_sync"
  std::string title = {};                    // a few words, as a heading
  std::string looks_for = {};                // sentences, likewise below: the pattern in the trace
  std::string needs = {};                    // what must have been recorded, and what else helps
  Needs cannot_do_without = {};              // the first of these again, for looked_at()
  std::string saving = {};                   // how it is computed
  std::string held = {};                     // how the predictions compared with measurements
  std::vector<std::string_view> fixes = {};  // ids of what it may propose
  bool is_about_memory = false;              // what `telltale memory` asks as well
};

// All rules, in the order of the documentation. Thread-safe.
std::span<const RuleInfo> rule_infos();

}  // namespace telltale
