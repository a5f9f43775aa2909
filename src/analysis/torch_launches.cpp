#include "analysis/torch_launches.h"

#include <algorithm>
#include <unordered_map>

namespace telltale {

std::vector<EventId> innermost_of(const Trace& trace, const CallTree& tree, Kind kind) {
  std::vector<EventId> found(trace.events.size(), kNoEvent);
  for (EventId event = 0; event < found.size(); ++event) {
    if (tree.is_call[event] && trace.events.kind[event] == kind)
      found[event] = event;
    else if (tree.parent[event] != kNoEvent)
      found[event] = found[tree.parent[event]];
  }
  return found;
}

TorchLaunches::TorchLaunches(const Trace& trace, const CallTree& tree, bool annotations_launch)
    : trace_(trace),
      tree_(tree),
      annotations_launch_(annotations_launch),
      operators_(innermost_of(trace, tree, Kind::kOperator)),
      annotations_(innermost_of(trace, tree, Kind::kAnnotation)) {}

EventId TorchLaunches::call_of(EventId device_event) const {
  const EventId cause = trace_.events.cause[device_event];
  return cause == kNoEvent ? kNoEvent : call_around(cause);
}

EventId TorchLaunches::call_around(EventId api_call) const {
  if (operators_[api_call] != kNoEvent) return operators_[api_call];
  const Events& events = trace_.events;
  const EventId named = is_api_call(events.kind[api_call]) ? events.cause[api_call] : kNoEvent;
  if (named != kNoEvent && tree_.is_call[named]) return named;
  return annotations_launch_ ? annotations_[api_call] : kNoEvent;
}

EventId TorchLaunches::annotation_of(EventId device_event) const {
  const EventId cause = trace_.events.cause[device_event];
  return cause == kNoEvent ? kNoEvent : annotations_[cause];
}

std::vector<DeviceAnnotation> device_annotations(const Trace& trace, const TorchLaunches& launches) {
  const Events& events = trace.events;
  std::vector<DeviceAnnotation> found;
  std::unordered_map<std::uint64_t, std::size_t> places;  // by annotation and stream
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event])) continue;
    const EventId annotation = launches.annotation_of(event);
    if (annotation == kNoEvent) continue;
    const TrackId stream = events.track[event];
    const auto [known, is_new] = places.try_emplace(std::uint64_t{annotation} << 32 | stream, found.size());
    if (is_new) found.push_back({annotation, stream, {events.start[event], events.end(event)}});
    Interval& span = found[known->second].span;
    span.begin = std::min(span.begin, events.start[event]);
    span.end = std::max(span.end, events.end(event));
  }
  std::ranges::stable_sort(found, {}, [](const DeviceAnnotation& each) { return each.span.begin; });
  return found;
}

}  // namespace telltale
