// The trace that a JSON text holds, read the slow way: the oracle for the fast reader.
//
// Every column is found by its definition in trace/trace.h, with maps and by looking at every row. Shares no code with
// the reader or the builder, only the types of the model. Takes valid JSON alone; quadratic in the rows of a track.
#pragma once

#include <optional>
#include <string_view>

#include "slow_links.h"

namespace telltale::oracle {

// Nothing when the text is not valid JSON or holds no list of events.
std::optional<SlowTrace> slow_read(std::string_view text);

}  // namespace telltale::oracle
