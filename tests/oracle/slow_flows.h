// The arrows of a file: those between events, and those that tell which thread a backward operator's forward one ran
// on.
#pragma once

#include <vector>

#include "slow_rows.h"
#include "trace/trace.h"

namespace telltale::oracle {

// Fills the flows and the causes of backward operators. `tracks` are the keys of the trace's tracks; needs parents and
// operators.
void link_flows(const std::vector<SlowEvent>& events, const std::vector<SlowTrackKey>& tracks,
                const std::vector<SlowRow>& rows, Nanoseconds origin, Trace& trace);

}  // namespace telltale::oracle
