// What to say when a recorded program ran out of memory, right behind its traceback.
#pragma once

#include <string>
#include <vector>

#include "advise/memory_report.h"
#include "trace/trace.h"

namespace telltale::answers {

// What held the memory, what would free most, and whether the request that failed fits then: a line each. Empty where
// memory was not recorded.
std::vector<std::string> out_of_memory_diagnosis(const Trace& trace);

// That it ran out, and which of the first findings gets past that: sentences. Empty where it did not. The findings have
// their edits.
std::vector<std::string> out_of_memory_remarks(const Trace& trace, const MemoryReport& report);

}  // namespace telltale::answers
