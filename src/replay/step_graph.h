// The dependency graph of a trace's steps, and what they would take after an edit.
//
// Nodes are stretches of host time with one innermost event, and device work. They depend on what precedes them on
// their thread or stream; device work on its launch; waiting calls on the device work they wait for; a thread that
// stood idle on the thread that woke it. Delays that none of this explains are kept as they were recorded, so that a
// replay without an edit gives the recorded step.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "replay/edit.h"
#include "trace/trace.h"

namespace telltale {

struct ReplayedStep {
  Nanoseconds period = 0;       // of the steady state
  Nanoseconds device_busy = 0;  // a period
  Nanoseconds host_busy = 0;    // a period, of the busiest thread, waits left out
  bool is_device_bound() const { return device_busy * 20 >= period * 19; }
};

class StepGraph {
 public:
  // The trace must outlive the graph. Linear in the events of the steps.
  StepGraph(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work);

  // Several rounds of all steps in a row; the last round's length, by step. Thread-safe.
  ReplayedStep replay(const Edit& edit) const;

  const Trace& trace() const { return *trace_; }
  std::size_t memory_bytes() const;

 private:

  const Trace* trace_;
};

}  // namespace telltale
