#include "trace/nesting.h"

#include <algorithm>

namespace telltale {
namespace {

constexpr std::size_t kMostLanes = 255;

}  // namespace

bool nest(Events& events, const Track& track) {
  // Events that can still contain a later one. An event is of no more use once a later one reaches as far, so ends fall
  // from the bottom to the top, and the innermost container of a new event is the top one that reaches its end.
  std::vector<EventId> open;
  bool has_overlap = false;
  for (EventId id = track.first_event; id != track.first_event + track.event_count; ++id) {
    const Nanoseconds end = events.end(id);
    while (!open.empty() && events.end(open.back()) < end) {
      has_overlap |= events.end(open.back()) > events.start[id];
      open.pop_back();
    }
    events.parent[id] = open.empty() ? kNoEvent : open.back();
    if (!open.empty() && events.end(open.back()) == end) open.pop_back();
    open.push_back(id);
  }
  return has_overlap;
}

std::vector<std::uint8_t> lanes_of(const Events& events, const Track& track, bool& has_too_many) {
  std::vector<std::uint8_t> lanes(track.event_count, 0);
  std::vector<std::vector<Nanoseconds>> open_ends(1);  // of each lane, outermost first
  for (EventId i = 0; i < track.event_count; ++i) {
    const EventId id = track.first_event + i;
    const Nanoseconds start = events.start[id], end = events.end(id);
    std::size_t lane = 0;
    for (;; ++lane) {
      if (lane == open_ends.size()) open_ends.emplace_back();
      std::vector<Nanoseconds>& ends = open_ends[lane];
      while (!ends.empty() && ends.back() <= start) ends.pop_back();
      if (ends.empty() || ends.back() >= end) break;
      if (lane == kMostLanes) {
        has_too_many = true;
        break;
      }
    }
    open_ends[lane].push_back(end);
    lanes[i] = static_cast<std::uint8_t>(lane);
  }
  return lanes;
}

// Where the two steps before are of equal length, a step is as long as both of them together, and one; else it is short
// (skew-binary numbers).
OpenRows::OpenRows(const Events& events) : events_(events), far_(events.size(), kNoEvent) {
  std::vector<std::uint32_t> depth(events.size(), 0);
  const auto length = [&](EventId from) {
    return far_[from] == kNoEvent ? depth[from] : depth[from] - depth[far_[from]];
  };
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId parent = events.parent[event];
    if (parent == kNoEvent) continue;
    depth[event] = depth[parent] + 1;
    const EventId second = far_[parent];
    far_[event] = second != kNoEvent && length(parent) == length(second) ? far_[second] : parent;
  }
}

EventId OpenRows::innermost_at(const Track& track, Nanoseconds time, EventId& hint) const {
  const Events& events = events_;
  const EventId end = track.first_event + track.event_count;
  if (hint < track.first_event || hint >= end || events.start[hint] > time) {
    hint = track.first_event;
    if (hint == end || events.start[hint] > time) return kNoEvent;
  }
  // Gallop, then search: near times are found at once, far ones in logarithmic time.
  EventId low = hint, step = 1;
  while (low + step < end && events.start[low + step] <= time) {
    low += step;
    step *= 2;
  }
  const EventId high = low + std::min<EventId>(step, end - low);
  const auto begin = events.start.begin();
  hint = static_cast<EventId>(std::upper_bound(begin + low, begin + high, time) - begin) - 1;
  EventId at = hint;
  // What is around an event ends no earlier.
  while (at != kNoEvent && events.end(at) < time)
    at = far_[at] != kNoEvent && events.end(far_[at]) < time ? far_[at] : events.parent[at];
  return at;
}

}  // namespace telltale
