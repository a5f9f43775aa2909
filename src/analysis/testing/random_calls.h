// Random events for tests that compare with an answer found instant by instant.
#pragma once

#include <random>
#include <vector>

#include "analysis/testing/trace_sketch.h"
#include "base/intervals.h"

namespace telltale {

// Calls on a thread between 0 and `horizon`: Python, operators and calls of the runtime with names of all sorts of
// work. Most nest; some overlap in part, touch, or have no duration.
std::vector<TraceSketch::Handle> add_random_calls(TraceSketch& sketch, TrackId thread, int count, Nanoseconds horizon,
                                                  std::mt19937& random);

// A window within the horizon, be it empty.
Interval random_window(Nanoseconds horizon, std::mt19937& random);

}  // namespace telltale
