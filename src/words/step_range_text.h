// Ranges of steps as people write them: 5, 3..7, 3.., ..7.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/step_range.h"

namespace telltale {

// Nothing when it is no range, or one that ends before it starts.
std::optional<StepRange> parsed_step_range(std::string_view text);

}  // namespace telltale
