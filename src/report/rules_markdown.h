// What rules look for, need and promise, as Markdown: the generated part of docs/rules.md.
#pragma once

#include <span>
#include <string>

#include "advise/rule_info.h"

namespace telltale {

// A table of all, which leads to a section for each.
std::string rules_markdown(std::span<const RuleInfo> rules);

}  // namespace telltale
