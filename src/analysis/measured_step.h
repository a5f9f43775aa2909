// What a step takes while nothing is recorded, measured on the steps of the same process that ran unrecorded.
//
// Pure and thread-safe; linear in the trace's events.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/trace.h"
#include "trace/unrecorded_steps.h"

namespace telltale {

struct MeasuredStep {
  Nanoseconds typical = 0;  // the mean
  Nanoseconds fastest = 0, slowest = 0;
  std::int64_t steps = 0;  // that it was measured over
  Unrecorded when = Unrecorded::kBefore;
};

// Steps before the recording count first: a profiler can leave its cost behind. Then those of pauses, then those after
// it; fewer than three say nothing.
//
// Before and after, only the later half counts, and of the first two steps of the program none: things are loaded and
// compiled in them, and a host that runs ahead of its device is not slowed down by it until the launch queue is full.
// The first step of a pause and the first after the recording do not count either: the recorder steps aside in them.
// Steps far off the others (Tukey's fences) are left out; of the rest it is the mean that a host ahead of its device
// makes right, since single steps are then short or long as the queue has room or not.
std::optional<MeasuredStep> measured_step(const Trace& trace);

// What the host takes for a step by itself while nothing is recorded, where its device sets the pace: the median of the
// steps in which it ran ahead, at the beginning of pauses, before the launch queue was full. Of each pause the first
// step does not count, and the last of these, as the queue may have become full in it; fewer than three say nothing.
std::optional<Nanoseconds> host_step_ahead(const Trace& trace, const MeasuredStep& step);

}  // namespace telltale
