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
  // wants to hear of are dropped later; a finding without any saving is about memory or trust, and stays.
  std::vector<Finding> (*find)(const Facts& facts);
};

// All rules: one file in rules/ and one line in rules.cpp each.
std::span<const Rule* const> all_rules();

}  // namespace telltale
