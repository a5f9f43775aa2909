// A device's memory over time, as the allocator's events tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

struct MemoryPoint {
  Nanoseconds time = 0;
  std::int64_t allocated = 0, reserved = 0;
};

// What lives at the end of the trace and was allocated within its steps, by where it was allocated.
struct Survivor {
  EventId op = kNoEvent;   // innermost event at the allocation of the largest
  std::int64_t bytes = 0;  // that outlive the step in which they were allocated, per step
  std::int64_t count = 0;
};

struct MemorySummary {
  DeviceId device = kHost;
  std::int64_t peak_allocated = 0, peak_reserved = 0;
  std::int64_t reserved_at_peak = 0;
  Nanoseconds peak_time = 0;
  std::vector<std::int64_t> step_minimum, step_peak;  // allocated, by step of the timing
  std::optional<double> growth_per_step;              // Theil–Sen slope of the minima, bytes; with three steps or more
  std::int64_t largest_allocation = 0;                // that is freed within its step
  EventId largest_event = kNoEvent;                   // what made it
  double device_allocations = 0, device_frees = 0;    // cudaMalloc and cudaFree calls a step
  Nanoseconds allocator_call_ns = 0;                  // a step, in those calls
  std::vector<Survivor> survivors;                    // by falling bytes
  std::vector<MemoryPoint> curve;                     // at most a few thousand points, peaks kept
};

// Of the device with the largest peak; nothing when the trace has no memory events of a device.
std::optional<MemorySummary> memory_summary(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
