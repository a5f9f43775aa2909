// A device's memory over time, as the allocator's events tell it; the host's where no device is at work.
//
// Pure and thread-safe; linear in memory events and in events.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/memory_levels.h"
#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

// What lives at the end of the trace though it was allocated in a step before the last one, by what allocated it: what
// every step allocates anew is freed in the next one at the latest, and is none.
struct Survivor {
  EventId op = kNoEvent;   // the operator or annotation around the largest of the allocations, or what else is there
  std::int64_t bytes = 0;  // a step, over those before the last one
  std::int64_t count = 0;  // of allocations
  std::int64_t steps = 0;  // that have such allocations
  // Of the bytes, what the first half of the steps allocated: half of them for what every step leaves behind, all for
  // what warming up does, none for a buffer that keeps the newest.
  double early_share = 0;
};

struct MemorySummary {
  DeviceId device = kHost;
  std::int64_t peak_allocated = 0, peak_reserved = 0;  // within the steps, likewise below; 0 reserved: not recorded
  std::int64_t reserved_at_peak = 0;
  Nanoseconds peak_time = 0;
  std::vector<std::int64_t> step_minimum, step_peak;  // allocated, by step of the timing
  // Theil–Sen slope of the minima, bytes; with three steps or more. It is that of all steps, as the survivors are: one
  // that takes unusually long allocates what others do.
  std::optional<double> growth_per_step;
  std::int64_t largest_allocation = 0;              // that is freed within its step
  EventId largest_event = kNoEvent;                 // what made it, as in Survivor::op
  double device_allocations = 0, device_frees = 0;  // cudaMalloc and cudaFree calls a step, of any device
  Nanoseconds allocator_call_ns = 0;                // a step, in those calls
  std::vector<Survivor> survivors;                  // by falling bytes
  std::vector<MemoryPoint> curve;                   // over the steps; at most some 2,000 points, peaks kept
};

// The innermost operator or annotation around an allocation that wants the memory for itself; where there is none, the
// innermost event.
EventId maker_of(const Trace& trace, EventId innermost);

// Of the device with the largest peak, or of the host in a trace without device work; nothing when the trace has no
// memory events of it.
std::optional<MemorySummary> memory_summary(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
