#include "formats/kineto/flow_arrows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "trace/nesting.h"

namespace telltale::kineto {
namespace {

constexpr EventId kMostRowsLookedAt = 256;

// What the backward operators of one forward thread, by torch's number, say about it.
struct ForwardThreadUse {
  std::optional<TrackId> track;
  bool has_several_tracks = false;
  std::vector<EventId> lost;  // backward operators without a forward one
};

bool is_backward(const Trace& trace, EventId event, const OperatorInfo& info) {
  return trace.events.kind[event] == Kind::kOperator && info.forward_thread != 0 && info.sequence >= 0;
}

std::map<std::uint32_t, ForwardThreadUse> uses_of_threads(const Trace& trace) {
  std::map<std::uint32_t, ForwardThreadUse> uses;
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const EventId event = trace.operators.event(i);
    if (!is_backward(trace, event, trace.operators.row(i))) continue;
    ForwardThreadUse& use = uses[trace.operators.row(i).forward_thread];
    const EventId cause = trace.events.cause[event];
    if (cause == kNoEvent) {
      use.lost.push_back(event);
      continue;
    }
    const TrackId track = trace.events.track[cause];
    use.has_several_tracks |= use.track && *use.track != track;
    use.track = track;
  }
  return uses;
}

// Sequence numbers of forward operators: which thread they are on, and when the first one starts.
std::map<std::pair<TrackId, std::int64_t>, Nanoseconds> first_forward(const Trace& trace) {
  std::map<std::pair<TrackId, std::int64_t>, Nanoseconds> first;
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const OperatorInfo& info = trace.operators.row(i);
    const EventId event = trace.operators.event(i);
    if (info.sequence < 0 || info.forward_thread != 0 || trace.events.kind[event] != Kind::kOperator) continue;
    const Nanoseconds start = trace.events.start[event];
    const auto [at, is_new] = first.emplace(std::pair{trace.events.track[event], info.sequence}, start);
    if (!is_new) at->second = std::min(at->second, start);
  }
  return first;
}

// Forward threads that a reader may learn from arrows: all forward operators are on one track, and knowing it makes
// no lost operator find one that the trace does not link.
std::set<std::uint32_t> teachable_threads(const Trace& trace) {
  std::map<std::uint32_t, ForwardThreadUse> uses = uses_of_threads(trace);
  const bool has_lost = std::ranges::any_of(uses, [](const auto& use) { return !use.second.lost.empty(); });
  std::map<std::pair<TrackId, std::int64_t>, Nanoseconds> forwards;
  if (has_lost) forwards = first_forward(trace);
  std::set<std::uint32_t> teachable;
  for (const auto& [thread, use] : uses) {
    if (!use.track || use.has_several_tracks) continue;
    const bool would_find = std::ranges::any_of(use.lost, [&, track = *use.track](EventId event) {
      const auto forward = forwards.find({track, trace.operators.find(event)->sequence});
      return forward != forwards.end() && forward->second < trace.events.start[event];
    });
    if (!would_find) teachable.insert(thread);
  }
  return teachable;
}

// All of one thread, and at times that mean what they should.
bool can_be_drawn(Arrow& arrow, const Trace& trace, const Places& places, const FlowArrows& flows) {
  const TrackId forward_track = trace.events.track[arrow.from];
  const EventId forward = flows.enclosing(places.of(forward_track), arrow.from_time);
  if (forward == kNoEvent || trace.events.track[forward] != forward_track) return false;
  const auto to_time = flows.time_inside(arrow.to, arrow.to_time);
  if (to_time) arrow.to_time = *to_time;
  return to_time.has_value();
}

}  // namespace

EventId FlowArrows::enclosing(const Place& place, Nanoseconds time) const {
  for (const TrackId id : place.tracks) {
    const Track& track = trace_.tracks[id];
    EventId hint = track.first_event;
    if (const EventId event = open_rows_.innermost_at(track, time, hint); event != kNoEvent) return event;
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

std::vector<Arrow> forward_backward_arrows(const Trace& trace, const Places& places) {
  const std::set<std::uint32_t> teachable = teachable_threads(trace);
  std::vector<Arrow> arrows;
  const Events& events = trace.events;
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const EventId event = trace.operators.event(i);
    const OperatorInfo& info = trace.operators.row(i);
    if (!is_backward(trace, event, info) || !teachable.contains(info.forward_thread)) continue;
    const EventId cause = events.cause[event];
    if (cause != kNoEvent) arrows.push_back({cause, event, events.start[cause], events.start[event], false});
  }
  // A backward node runs inside of the engine's call for it; both belong to the forward operator, and the arrow
  // points to the later one.
  std::ranges::sort(arrows, {}, [](const Arrow& arrow) { return std::tuple(arrow.from, arrow.to_time, arrow.to); });
  const FlowArrows flows(trace, places);
  std::vector<Arrow> drawn;
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    const bool is_last = i + 1 == arrows.size() || arrows[i].from != arrows[i + 1].from;
    if (is_last && can_be_drawn(arrows[i], trace, places, flows)) drawn.push_back(arrows[i]);
  }
  return drawn;
}

}  // namespace telltale::kineto
