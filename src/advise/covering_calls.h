// Calls that are one sort of host work as a whole: loading, collecting garbage, compiling.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

// The outermost events of that work that begin in a step, on the threads that feed the device, longest first.
std::vector<EventId> covering_calls(const Facts& facts, HostWork work);

// A step's share of what the calls took, as recorded.
Nanoseconds time_in(const Facts& facts, const std::vector<EventId>& calls);

// In how many steps there is such a call.
std::size_t steps_with(const Facts& facts, const std::vector<EventId>& calls);

}  // namespace telltale
