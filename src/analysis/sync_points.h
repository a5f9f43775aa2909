// Each wait of the host for the device, and the idle time that follows while the host fills the queue again.
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

// By time.
std::vector<SyncPoint> sync_points(const Trace& trace, const StepTiming& timing, const StepBreakdown& breakdown);

}  // namespace telltale
