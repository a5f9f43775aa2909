// What replaying a captured CUDA graph does to a step.
#pragma once

#include <vector>

#include "analysis/host_work.h"
#include "replay/edit.h"
#include "trace/trace.h"

namespace telltale {

// All device work runs as nodes of one graph a step, which a single call launches: Python, operators and launches take
// no more time. What a graph does not hold stays: waits, copies, loading, allocations. Whether the step could be
// captured is not asked.
void capture_in_graph(const Trace& trace, const std::vector<HostWork>& host_work, Edit& edit);

}  // namespace telltale
