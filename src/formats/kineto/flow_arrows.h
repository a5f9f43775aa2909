// Where to draw the arrows between events so that a reader, who knows only places and times, finds the same events.
#pragma once

#include <optional>
#include <vector>

#include "formats/kineto/places.h"
#include "trace/nesting.h"
#include "trace/trace.h"

namespace telltale::kineto {

struct Arrow {
  EventId from = kNoEvent, to = kNoEvent;
  Nanoseconds from_time = 0, to_time = 0;
  bool binds_to_next = false;  // the end means the next event that starts, not the one around it
};

class FlowArrows {
 public:
  FlowArrows(const Trace& trace, const Places& places) : trace_(trace), places_(places), open_rows_(trace.events) {}

  // Nothing when no two times mean these two events: where others cover one of them wholly.
  std::optional<Arrow> arrow(EventId from, EventId to) const;

  // A time at or after `earliest` that means the event: its start, as long as nothing inside of it starts then, too.
  std::optional<Nanoseconds> time_inside(EventId event, Nanoseconds earliest) const;
  // What a reader takes the start of an arrow to be.
  EventId enclosing(const Place& place, Nanoseconds time) const;

 private:
  EventId next(const Place& place, Nanoseconds time) const;

  const Trace& trace_;
  const Places& places_;
  OpenRows open_rows_;
};

// The arrows from forward operators to backward ones, one for each forward operator, as torch draws them. Readers learn
// from them which thread the forward operators of a backward one ran on; where that would mislead them, they are left
// out, and sequence numbers alone have to tell.
std::vector<Arrow> forward_backward_arrows(const Trace& trace, const Places& places);

}  // namespace telltale::kineto
