// What to say when a choice of steps chooses none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/step_range.h"
#include "trace/trace.h"

namespace telltale {

// Why the choice leaves nothing to look at, as a sentence; empty when it leaves something. `option` is what the user
// made the choice with.
std::string why_no_step(const Trace& trace, const std::optional<StepRange>& chosen, std::string_view option);

}  // namespace telltale
