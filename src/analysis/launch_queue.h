// How much launched work waits for the device: near zero, the device waits for the host.
#pragma once

#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

struct LaunchQueue {
  struct Point {
    Nanoseconds time;
    std::int32_t depth;  // launched, not yet begun; from this time to the next point's
  };
  std::vector<Point> points;       // over the timing's window
  double mean_depth = 0;           // by time
  double share_empty = 0;          // of the window, with at most one waiting
  Nanoseconds launch_latency = 0;  // median from the call's start to the kernel's, where the queue was empty
};

LaunchQueue launch_queue(const Trace& trace, const StepTiming& timing, DeviceId device);

}  // namespace telltale
