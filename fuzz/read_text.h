// The reader on a text in memory, checked against itself and against the slow reader.
#pragma once

#include <string_view>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale::fuzzing {

// Reads the text on one thread and in one block, and on three in tiny ones: both must give the same trace or both
// refuse it. Where the slow reader takes the text, too, all three must agree.
void check_all_readers(std::string_view text);

// The trace in the text, read on one thread.
Result<Trace> trace_in(std::string_view text);

}  // namespace telltale::fuzzing
