// The names and places in the display that metadata events give to processes and tracks.
#pragma once

#include <vector>

#include "slow_rows.h"
#include "trace/trace.h"

namespace telltale::oracle {

// Fills the processes and the names of the tracks; `tracks` and `processes` are their keys, in the trace's order.
void name_places(const SlowDocument& document, const std::vector<SlowTrackKey>& tracks,
                 const std::vector<SlowId>& processes, Trace& trace);

}  // namespace telltale::oracle
