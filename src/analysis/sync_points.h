// Each wait of the host for the device, and the idle time that follows while the host fills the queue again.
//
// Waits are the calls whose name says so and copies from or to pageable memory that keep the host until they are done.
// Pure and thread-safe; linear in events, but for sorting the waits of several threads by time.
#pragma once

#include <vector>

#include "analysis/breakdown.h"
#include "trace/trace.h"

namespace telltale {

struct SyncPoint {
  EventId call = kNoEvent;     // the waiting call
  EventId op = kNoEvent;       // aten::item, aten::nonzero, …: the outermost operator around it, or kNoEvent
  Nanoseconds waited = 0;      // the call's duration
  Nanoseconds idle_after = 0;  // device idle that it causes: from the end of the work waited for to the next work
};

// The waits that begin in one of the timing's steps, by time. Of calls that make each other, the outermost.
std::vector<SyncPoint> sync_points(const Trace& trace, const StepTiming& timing, const StepBreakdown& breakdown);

}  // namespace telltale
