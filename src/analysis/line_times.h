// Time by line of the user's program: what the host does there itself, and the device work that is launched from there.
//
// An event belongs to the line that source_line() names: the deepest one around it that is not of a library, so that
// what libraries do counts where they were called. Each nanosecond of a thread counts once. Pure and thread-safe;
// linear in the trace's events, but for texts of stacks, each of which is read once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/source_line.h"
#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

std::string_view name_of(CodeOwner owner);  // "user", "package", "library"

struct LineTime {
  SourceLine source;
  CodeOwner owner = CodeOwner::kUser;
  Nanoseconds host_ns = 0, device_ns = 0;  // a step
  std::int64_t calls = 0;                  // in all steps: how often a thread came to the line from another one
  EventId example = kNoEvent;              // the longest event that the line is known by
};

struct LineTimes {
  std::vector<LineTime> lines;  // by falling time of the device, then of the host; empty without stacks
  // A step, of what no line is known of.
  Nanoseconds host_elsewhere_ns = 0, device_elsewhere_ns = 0;
  std::int64_t steps = 1;  // that the times are a mean of
};

LineTimes line_times(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
