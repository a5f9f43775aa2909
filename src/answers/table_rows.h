// What the rows of the page's tables are, and how each table is made.
#pragma once

#include <string>
#include <string_view>

#include "answers/full_table.h"
#include "answers/view.h"
#include "answers/view_kept.h"
#include "base/error.h"

namespace telltale::answers {

// Operators, kernels, annotations and Python calls as `telltale top` has them: `steps` chooses those of some steps, and
// without it all of the trace counts. Modules and lines are those of the steps that analyze takes, a step.
Result<FullTable> made_table(const View& view, const TableKey& key);

}  // namespace telltale::answers
