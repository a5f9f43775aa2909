// Collectives: how long they run, and how much of that no computation hides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

struct CollectiveRow {
  std::string name;                           // "allreduce", or the kernel's name where there is no metadata
  double calls = 0;                           // a step
  std::optional<double> bytes;                // a step, sent in
  Nanoseconds device_ns = 0, exposed_ns = 0;  // a step
};

struct Communication {
  Nanoseconds total_ns = 0;         // a step, each instant once
  Nanoseconds exposed_ns = 0;       // of it, while nothing else runs on the device
  std::vector<CollectiveRow> rows;  // by falling time
  double overlap_percent() const;   // 100 when nothing is exposed, also without communication
};

Communication communication(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
