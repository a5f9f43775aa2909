// What to say when a recorded program ran out of memory, right behind its traceback.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace telltale::answers {

// What held the memory, what would free most, and whether the request that failed fits then: a line each. Empty where
// memory was not recorded.
std::vector<std::string> out_of_memory_diagnosis(const Trace& trace);

}  // namespace telltale::answers
