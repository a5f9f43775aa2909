// Tracks that look like a thread's and hold only what a recorder took for itself, such as CUPTI's overhead.
//
// Pure and thread-safe.
#pragma once

#include "trace/trace.h"

namespace telltale {

// Also of a track without any event.
bool is_of_recorder(const Trace& trace, const Track& track);

}  // namespace telltale
