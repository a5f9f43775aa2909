// Where the first step of a program begins that was recorded from its start.
//
// Its mark begins with the recording, at the import of torch: what the program imports and builds before its loop
// belongs to no step.
#pragma once

#include <vector>

#include "analysis/found_steps.h"
#include "trace/trace.h"

namespace telltale {

// Makes the first of several marked steps begin where the second one's beginning stands in it: at the operator or
// annotation with which the second begins, as far from the end as that comes in the second (a step that accumulates
// gradients has several batches); where the first has none of that name, at the second's next one that it has. Where it
// has none of them it is no step but what comes before, and goes. A single step begins with its first operator or
// annotation. Of the thread that marks steps. Linear in its events up to the end of the second step.
void settle_first_step(const Trace& trace, std::vector<FoundStep>& steps);

// When the first operator or annotation begins, marks of steps aside; 0 where there is none.
Nanoseconds start_of_work(const Trace& trace);

}  // namespace telltale
