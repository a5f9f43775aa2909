// A thread's time cut where its innermost event changes.
//
// Pure and thread-safe; linear in the events of the thread.
#pragma once

#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct HostSegment {
  Interval when;
  EventId event = kNoEvent;  // the innermost event open on the thread; kNoEvent between events
};

// Segments of one thread that cover `window` without gaps or overlaps, in order; none is empty.
std::vector<HostSegment> host_segments(const Trace& trace, TrackId thread, Interval window);

}  // namespace telltale
