// The option --steps, which several commands have.
#pragma once

#include <optional>
#include <string>

#include "analysis/step_range.h"
#include "cli/command.h"
#include "trace/trace.h"

namespace telltale::cli {

// `chosen` must live as long as `app`.
void declare_steps(CLI::App& app, std::optional<StepRange>& chosen);

// Why the choice leaves nothing to look at, as a sentence; empty when it leaves something.
std::string why_no_step(const Trace& trace, const std::optional<StepRange>& chosen);

}  // namespace telltale::cli
