// The user's own Python: functions that compute without calling a single operator.
#pragma once

#include <vector>

#include "advise/facts.h"

namespace telltale {

// The outermost calls, within the steps, of functions outside of libraries whose whole call makes no operator and no
// call into the device's API; by event.
std::vector<EventId> user_python_without_operators(const Facts& facts);

}  // namespace telltale
