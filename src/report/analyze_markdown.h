// A diagnosis as Markdown, as a comment on a pull request wants it, and what there is to say of rules.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "advise/diagnosis.h"
#include "advise/rule_info.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that was diagnosed.
std::string analyze_markdown(const Diagnosis& diagnosis, const Trace& trace);

// One finding with its number, folded up but for its title.
std::string finding_markdown(const Finding& finding, std::size_t number, const Trace& trace);

// What rules look for, need and promise, the generated part of docs/rules.md: a table of all, which leads to a section
// for each.
std::string rules_markdown(std::span<const RuleInfo> rules);

// Text that Markdown shows as it is, on one line: names come from files and mean no markup.
std::string markdown_escaped(std::string_view text);

}  // namespace telltale
