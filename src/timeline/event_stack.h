// The Python frames from which one event was called, innermost first: what CallStacks tells, for those who ask about
// few events and not all. See analysis/call_stacks.h for what counts.
//
// Pure and thread-safe; follows the event's callers outwards, a bounded number of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace telltale {

std::vector<std::string> event_stack(const Trace& trace, EventId event, std::size_t depth);

}  // namespace telltale
