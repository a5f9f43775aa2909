// Rules as people name them.
#pragma once

#include <string>

#include "advise/rule_info.h"
#include "base/error.h"

namespace telltale {

// The rule of that name; a sentence about those that there are when it is none of them.
Result<const RuleInfo*> rule_named(const std::string& id);

}  // namespace telltale
