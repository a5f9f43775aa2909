// A change to a recorded program, to be tried on its graph instead of on the program.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/host_work.h"
#include "base/time.h"
#include "trace/trace.h"

namespace telltale {

// What recording an event costs the host that is recorded, in nanoseconds.
struct ObserverCost {
  double python_call = 0, operator_call = 0, api_call = 0;
};

struct Edit {
  // By event; empty: 1 for all. On the host a factor scales an event's own time, not that of what it contains; on the
  // device its duration. What has the factor 0 is gone: it launches nothing, waits for nothing, and starts nothing.
  std::vector<float> scale;
  // By event; empty: false for all. Calls that no longer wait for the device.
  std::vector<bool> is_free_of_waiting;
  // By event; empty: false for all. Device work that needs no call of its own any more: it runs as a node of a CUDA
  // graph, right behind what comes before it.
  std::vector<bool> is_graph_node;
  ObserverCost observer;            // taken out of the host's time
  Nanoseconds added_host_ns = 0;    // a step, at its beginning
  Nanoseconds added_device_ns = 0;  // a step, behind its first device work

  void scale_event(const Trace& trace, EventId event, float factor);
  // The event, everything called within it, and the device work which that launched.
  void remove_subtree(const Trace& trace, EventId root);
  void scale_subtree(const Trace& trace, EventId root, float host_factor, float device_factor);
  void drop_wait(const Trace& trace, EventId call);
};

// One past the last event within `root`, which is on a thread: the events of a subtree are consecutive.
EventId subtree_end(const Trace& trace, EventId root);

}  // namespace telltale
