// What the steps wait for on the host: which lines, for what and how long. Waits for the device are sync points, those
// for the data loader are loading, those for other ranks communication, and those for autograd's threads the backward
// pass: none of them is here.
//
// Pure and thread-safe; linear in the events of the threads that the breakdown divides.
#pragma once

#include <optional>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/source_line.h"
#include "analysis/step_timing.h"
#include "analysis/wait_names.h"
#include "trace/trace.h"

namespace telltale {

// All waits of one line for one thing.
struct HostWait {
  WaitFor what = WaitFor::kNothing;
  std::optional<SourceLine> source;  // nothing without stacks around them
  Nanoseconds ns = 0;                // a step
  double percent = 0;                // of the recorded step
  std::vector<EventId> calls;        // that wait, on the threads that work for the steps; longest first
};

// By falling time.
std::vector<HostWait> host_waits(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work);

}  // namespace telltale
