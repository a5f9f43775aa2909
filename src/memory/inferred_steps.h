// Steps of a program whose log of allocations marks none, as in a snapshot: it repeats itself, and so do the call
// stacks of what it allocates.
//
// Most lines of a training loop allocate once a step, so that most stacks occur equally often. A step lasts from one
// allocation of such a stack to its next: of the stack before which least is allocated, as behind an optimizer's step.
// There is a period only where the stretches between are alike, by how often each stack occurs in one and in the next;
// layers, which repeat themselves within a step, are none, since the rest of the step stands between their last and
// their first.
//
// Pure and thread-safe; O(n log n) in the entries of the log.
#pragma once

#include <optional>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

// Nothing where the log has no stacks, or no clear period of at least kLeastStepsOfLeak steps.
std::optional<StepTiming> inferred_steps(const Trace& trace, DeviceId device);

}  // namespace telltale
