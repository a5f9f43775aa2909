#include "replay/edit.h"

namespace telltale {

EventId subtree_end(const Trace& trace, EventId root) {
  const Track& track = trace.tracks[trace.events.track[root]];
  const EventId track_end = track.first_event + track.event_count;
  const Nanoseconds end = trace.events.end(root);
  EventId event = root + 1;
  while (event < track_end && trace.events.start[event] < end) ++event;
  return event;
}

}  // namespace telltale
