// What called an event, where the recorder did not see all calls return.
//
// Kineto misses the return of some calls, such as the apply() with which torch.compile enters a graph, and lets them
// last until the recording ends. They contain everything after them, but called little of it: they overlap the calls
// that they were made from. Here such calls are passed over.
//
// Pure and thread-safe.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace telltale {

// A Python call that lasts longer than the call around its start.
bool is_left_open(const Trace& trace, EventId event);

// The innermost event of the same track that contains this one and was not left open, or kNoEvent.
EventId caller_of(const Trace& trace, EventId event);

struct Callers {
  std::vector<EventId> of;         // caller_of each event; of one left open, the event around its start
  std::vector<bool> is_left_open;  // each event
};

// All at once, in time linear in the events as long as calls nest to a bounded depth.
Callers callers(const Trace& trace);

}  // namespace telltale
