// A diagnosis for a terminal: a headline, a bar of where a step's time goes, and what would help.
#pragma once

#include <cstddef>
#include <string>

#include "advise/diagnosis.h"
#include "advise/rule_info.h"
#include "report/palette.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that was diagnosed.
std::string analyze_text(const Diagnosis& diagnosis, const Trace& trace, const TextStyle& style);

// One finding with its number: title and saving, line, explanation, fix and code.
std::string finding_text(const Finding& finding, std::size_t number, const TextStyle& style);

// What a rule looks for, what it needs, how its saving is computed and how well that held.
std::string rule_text(const RuleInfo& rule, const TextStyle& style);

}  // namespace telltale
