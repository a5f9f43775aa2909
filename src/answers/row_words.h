// The words for what the rows of key averages are, and for what shares a row.
#pragma once

#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/key_averages.h"
#include "answers/spelling.h"
#include "base/error.h"

namespace telltale::answers {

// "operator", "kernel" (all device work), …, "all"; an error names the option `by`.
Result<KindSet> rows_named(const std::string& word, Spelling spelling);

// "name", "shape", "stack"; an error names the option `group`.
Result<Grouping> grouping_named(const std::string& word, Spelling spelling);

// Kinds of events by their names.
Result<KindSet> kinds_named(const std::vector<std::string>& names);

}  // namespace telltale::answers
