// The step with the fixes of some findings together, replayed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "advise/fix_replay.h"
#include "answers/view.h"
#include "answers/view_kept.h"
#include "base/error.h"

namespace telltale::answers {

struct FixesRequest {
  std::vector<std::size_t> findings;  // places in the overview's list
  StepsText steps;
};

struct FixesAnswer {
  FixedStep step;

  std::string json() const;
};

// Takes a replay, behind the diagnosis.
Result<FixesAnswer> fixes(const View& view, const FixesRequest& request);

}  // namespace telltale::answers
