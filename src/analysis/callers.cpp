#include "analysis/callers.h"

namespace telltale {
namespace {

// The row before, on the same track.
EventId row_before(const Trace& trace, EventId event) {
  return event == trace.tracks[trace.events.track[event]].first_event ? kNoEvent : event - 1;
}

}  // namespace

bool is_left_open(const Trace& trace, EventId event) {
  return trace.events.kind[event] == Kind::kPython && !trace.lanes.empty() && trace.lanes.find(event) != nullptr;
}

// Whatever contains the event was open when the row after it began, so the rows before a call that was left open lead
// to it.
EventId caller_of(const Trace& trace, EventId event) {
  EventId at = trace.events.parent[event];
  while (at != kNoEvent) {
    if (trace.events.end(at) < trace.events.end(event))
      at = trace.events.parent[at];
    else if (is_left_open(trace, at))
      at = row_before(trace, at);
    else
      break;
  }
  return at;
}

Callers callers(const Trace& trace) {
  const Events& events = trace.events;
  Callers result{events.parent, std::vector<bool>(events.size())};
  bool has_any = false;
  for (std::size_t row = 0; row < trace.lanes.size(); ++row) {
    const EventId event = trace.lanes.event(row);
    if (events.kind[event] != Kind::kPython) continue;
    result.is_left_open[event] = true;
    has_any = true;
  }
  if (!has_any) return result;

  for (EventId event = 0; event < events.size(); ++event) {
    const bool is_open = result.is_left_open[event];
    EventId at = is_open ? row_before(trace, event) : events.parent[event];
    if (at == kNoEvent || (!is_open && !result.is_left_open[at])) continue;
    if (!is_open) at = row_before(trace, at);
    const Nanoseconds until = is_open ? events.start[event] + 1 : events.end(event);
    while (at != kNoEvent && (result.is_left_open[at] || events.end(at) < until)) at = result.of[at];
    result.of[event] = at;
  }
  return result;
}

}  // namespace telltale
