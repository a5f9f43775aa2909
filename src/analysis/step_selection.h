// What belongs to a range of steps, for a trace of those steps alone.
#pragma once

#include "analysis/step_range.h"
#include "trace/slice.h"

namespace telltale {

// Host events that have a part in one of the steps, so that whatever the steps ran inside of stays; device work that
// was launched in them, whenever it runs; annotations on the device around such work.
Selection selection_of(const Trace& trace, const StepRange& range);

}  // namespace telltale
