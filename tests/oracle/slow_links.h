// How the rows of a trace hang together, each link by its definition and by looking at every row.
#pragma once

#include <vector>

#include "slow_rows.h"
#include "trace/trace.h"

namespace telltale::oracle {

struct SlowTrace {
  Trace trace;
  // What Trace's functions must answer for each event.
  std::vector<StepId> step_of;
  std::vector<EventId> launch_of, operator_of;
};

// All of these need the events, tracks and operators of `trace` in place; `rows` stand in the order of its events.
void link_parents(Trace& trace);
void lay_in_lanes(Trace& trace);
void find_steps(Trace& trace);
// Device rows and API calls outside operators; needs the parents.
void link_launches(const std::vector<SlowRow>& rows, Trace& trace);
void answer_questions(SlowTrace& slow);

// The innermost event of a track at a moment: of all that are open then, ends included, the last in row order.
EventId innermost_at(const Trace& trace, TrackId track, Nanoseconds time);

}  // namespace telltale::oracle
