// What a rule looks for, and how its saving is computed. Needs no trace.
#pragma once

#include <string>
#include <vector>

#include "advise/rule_info.h"
#include "base/error.h"
#include "report/palette.h"

namespace telltale::answers {

struct ExplainRequest {
  std::string rule;  // its id, or "all"
};

struct ExplainAnswer {
  std::vector<RuleInfo> rules;

  std::string markdown() const;
  std::string terminal(const TextStyle& style) const;
};

Result<ExplainAnswer> explain(const ExplainRequest& request);

// The rule of that id; a sentence about those that there are when it is none of them.
Result<const RuleInfo*> rule_named(const std::string& id);

}  // namespace telltale::answers
