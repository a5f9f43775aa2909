// How much launched work waits for the device: near zero, the device waits for the host.
//
// Work waits from the end of the call that launched it to its own start. Pure and thread-safe; linear in the device's
// events, but for merging its streams by time.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/step_timing.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct LaunchQueue {
  struct Point {
    Nanoseconds time;
    std::int32_t depth;  // launched, not yet begun; from this time to the next point's
    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points;  // over the timing's window; of many, the deepest and shallowest of each stretch
  double mean_depth = 0;      // by time
  double share_empty = 0;     // of the window, with at most one waiting
  Nanoseconds launch_latency =
      0;  // median from a call's start to its kernel's, where the stream had nothing else to do
};

// The depth at all times within the window at which it changes, and at its begin.
std::vector<LaunchQueue::Point> queue_depths(const Trace& trace, Interval window, DeviceId device);

LaunchQueue launch_queue(const Trace& trace, const StepTiming& timing, DeviceId device);

}  // namespace telltale
