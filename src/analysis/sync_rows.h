// Waits of the host for the device, summed up by what made the host wait.
#pragma once

#include <string>
#include <vector>

#include "analysis/sync_points.h"

namespace telltale {

struct SyncRow {
  std::string name;  // of the operator around the waiting call, or of the call itself
  double calls = 0;  // a step, likewise below
  Nanoseconds waited_ns = 0;
  Nanoseconds idle_ns = 0;     // that the device spends idle afterwards
  EventId example = kNoEvent;  // the call with the longest idle time after it
};

// By falling idle time, then by falling wait. Pure and thread-safe; linear in the syncs.
std::vector<SyncRow> sync_rows(const Trace& trace, const StepTiming& timing, const std::vector<SyncPoint>& syncs);

}  // namespace telltale
