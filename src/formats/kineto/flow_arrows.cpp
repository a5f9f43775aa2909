#include "formats/kineto/flow_arrows.h"

#include <algorithm>

#include "trace/nesting.h"

namespace telltale::kineto {
namespace {

constexpr EventId kMostRowsLookedAt = 256;

}  // namespace

EventId FlowArrows::enclosing(const Place& place, Nanoseconds time) const {
  for (const TrackId id : place.tracks) {
    const Track& track = trace_.tracks[id];
    EventId hint = track.first_event;
    if (const EventId event = innermost_at(trace_.events, track, time, hint); event != kNoEvent) return event;
  }
  return kNoEvent;
}

EventId FlowArrows::next(const Place& place, Nanoseconds time) const {
  for (const TrackId id : place.tracks) {
    const Track& track = trace_.tracks[id];
    const auto first = trace_.events.start.begin() + track.first_event, last = first + track.event_count;
    const auto found = std::lower_bound(first, last, time);
    if (found != last) return track.first_event + static_cast<EventId>(found - first);
  }
  return kNoEvent;
}

// The first time at or after `earliest` of those tried: the event's ends, and the gaps between what it contains.
std::optional<Nanoseconds> FlowArrows::time_inside(EventId event, Nanoseconds earliest) const {
  const Events& events = trace_.events;
  const Place& place = places_.of(events.track[event]);
  const auto is_meant = [&](Nanoseconds time) {
    return time >= earliest && time <= events.end(event) && enclosing(place, time) == event;
  };
  const Nanoseconds first = std::max(events.start[event], earliest);
  if (is_meant(first)) return first;
  const Track& track = trace_.tracks[events.track[event]];
  const EventId behind = std::min(track.first_event + track.event_count, event + 1 + kMostRowsLookedAt);
  for (EventId row = event + 1; row < behind && events.start[row] <= events.end(event); ++row)
    if (is_meant(events.end(row) + 1)) return events.end(row) + 1;
  if (is_meant(events.end(event))) return events.end(event);
  return std::nullopt;
}

std::optional<Arrow> FlowArrows::arrow(EventId from, EventId to) const {
  const auto from_time = time_inside(from, trace_.events.start[from]);
  if (!from_time) return std::nullopt;
  if (const auto to_time = time_inside(to, *from_time)) return Arrow{from, to, *from_time, *to_time, false};
  const Nanoseconds start = trace_.events.start[to];
  const bool is_next = start >= *from_time && next(places_.of(trace_.events.track[to]), start) == to;
  if (is_next) return Arrow{from, to, *from_time, start, true};
  return std::nullopt;
}

}  // namespace telltale::kineto
