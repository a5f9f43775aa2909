// A part of a trace as a trace of its own: the events that stay are whole, and everything else is worked out anew.
//
// Pure and thread-safe.
#pragma once

#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// What stays. Memory events and values of counters stay where their time lies in one of the windows.
struct Selection {
  std::vector<bool> events;       // by event
  std::vector<Interval> windows;  // ascending, apart from each other
};

// Whether an event has a part in the window; one without duration, whether it happens in it.
bool overlaps(const Events& events, EventId event, Interval window);

// Everything that has a part in the window.
Selection selection_of(const Trace& trace, Interval window);

// The trace of what stays. Time 0 is that of the earliest of it. A cause stays where both ends do; device work
// without its launch is caused by its operator, as in any trace. Parents, lanes, steps and tracks are those of what is
// left. Anomalies are still those of the whole file.
Trace slice(const Trace& trace, const Selection& selection);

}  // namespace telltale
