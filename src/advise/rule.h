// A rule: what it is about, and what it finds.
#pragma once

#include <span>
#include <vector>

#include "advise/facts.h"
#include "advise/finding.h"
#include "advise/rule_info.h"

namespace telltale {

struct Rule {
  RuleInfo info;
  // Zero or more findings, whose `rule` may be left empty: it becomes the rule's id. Those that save less than the user
  // wants to hear of are dropped later; a finding without any saving is about memory or trust, and stays. Their fixes
  // are among `info.fixes`.
  std::vector<Finding> (*find)(const Facts& facts);
};

// One function a file in rules/. Its id is its name, and need not be filled in.
namespace rules {
#define TELLTALE_RULE(name) Rule name();
#include "advise/rules/list.inc"
#undef TELLTALE_RULE
}  // namespace rules

// All rules, in the order of rules/list.inc. Thread-safe.
std::span<const Rule> all_rules();

}  // namespace telltale
