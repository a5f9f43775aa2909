// How many samples a step handles, where the shapes of its layers' inputs tell it.
//
// Pure and thread-safe; linear in events.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/phases.h"
#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

// Of most steps, the rows of the first layer of the forward pass: a batch. A step that accumulates gradients has
// several of these.
std::optional<std::int64_t> batch_size(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases);

// The same where a batch is all that a step handles: nothing where most steps go forward again behind a backward pass.
std::optional<std::int64_t> samples_per_step(const Trace& trace, const StepTiming& timing,
                                             const std::vector<Phase>& phases);

}  // namespace telltale
