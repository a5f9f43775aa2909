// A change to a recorded program, to be tried on its graph instead of on the program, and the changes that are made
// more than once: the program without a recorder, and its steps captured in a CUDA graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/host_work.h"
#include "base/time.h"
#include "trace/trace.h"

namespace telltale {

// The device work that each call launched. Events of a call and of all that it contains are consecutive, and so is
// the work which they launched.
class LaunchedWork {
 public:
  explicit LaunchedWork(const Trace& trace);

  std::span<const EventId> of(EventId launch) const { return of_range(launch, launch + 1); }
  // Of the calls in [first, end).
  std::span<const EventId> of_range(EventId first, EventId end) const;

 private:
  std::vector<std::uint32_t> first_;  // by call; one more than there are events
  std::vector<EventId> work_;
};

// One past the last event within `root`, which is on a thread.
EventId subtree_end(const Trace& trace, EventId root);

// What recording costs the host that is recorded: nanoseconds for each event and, as all else runs slower between the
// recorder's own work, a share of the host's time in recorded events.
struct ObserverCost {
  double python_call = 0, operator_call = 0, api_call = 0;
  double launch = 0;  // of a call that launches something, beside that
  double share = 0;
  bool operator==(const ObserverCost&) const = default;
};

// Every call takes the trace that the edit is for, always the same one.
struct Edit {
  // By event; empty: 1 for all. On the host a factor scales an event's own time, not that of what it contains; on the
  // device its duration. Device work with the factor 0 is gone.
  std::vector<float> scale;
  // By event; empty: false for all. Calls that no longer wait for the device.
  std::vector<bool> is_free_of_waiting;
  // By event; empty: false for all. Device work that runs as a node of a CUDA graph, right behind what comes before it.
  std::vector<bool> is_graph_node;
  ObserverCost observer;            // taken out of the host's time
  Nanoseconds added_host_ns = 0;    // per step, at its beginning
  Nanoseconds added_device_ns = 0;  // per step, before its first device work

  void scale_event(const Trace& trace, EventId event, float factor);
  void drop_wait(const Trace& trace, EventId call);
  void run_in_graph(const Trace& trace, EventId work);
  // The event and everything called within it by one factor, the device work which that launched by another.
  void scale_subtree(const Trace& trace, const LaunchedWork& launched, EventId root, float host_factor,
                     float device_factor);
};

// What the recording cost, by what the trace holds: recorders that follow Python calls cost most by far. Fitted on
// pairs of recorded and unprofiled steps; docs/rules.md says which, and how far off the fit is for cases left out of
// it.
ObserverCost observer_cost(const Trace& trace);

// The program as it runs without a recorder.
Edit without_observer(const Trace& trace);

// All device work runs as nodes of one graph per step, which a single call launches: Python, operators and launches
// take no more time. What a graph does not hold stays: waits, copies, loading, allocations. Whether the step could be
// captured is not asked. `host_work` is by event.
void capture_in_graph(const Trace& trace, const std::vector<HostWork>& host_work, Edit& edit);

}  // namespace telltale
