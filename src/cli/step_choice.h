// The option --steps, which several commands have.
#pragma once

#include <optional>

#include "analysis/step_range.h"
#include "cli/command.h"

namespace telltale::cli {

// `chosen` must live as long as `app`.
void declare_steps(CLI::App& app, std::optional<StepRange>& chosen);

}  // namespace telltale::cli
