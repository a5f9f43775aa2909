#include "replay/edit.h"

namespace telltale {
namespace {

template <typename Value>
Value& slot(std::vector<Value>& column, const Trace& trace, EventId event, Value standard) {
  if (column.empty()) column.assign(trace.events.size(), standard);
  return column[event];
}

}  // namespace

LaunchedWork::LaunchedWork(const Trace& trace) {
  const Events& events = trace.events;
  const auto launch_of = [&](EventId event) {
    return is_device_work(events.kind[event]) ? trace.launch_of(event) : kNoEvent;
  };
  first_.assign(events.size() + 1, 0);
  for (EventId event = 0; event < events.size(); ++event)
    if (const EventId launch = launch_of(event); launch != kNoEvent) ++first_[launch + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  work_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (EventId event = 0; event < events.size(); ++event)
    if (const EventId launch = launch_of(event); launch != kNoEvent) work_[next[launch]++] = event;
}

std::span<const EventId> LaunchedWork::of_range(EventId first, EventId end) const {
  return std::span(work_).subspan(first_[first], first_[end] - first_[first]);
}

EventId subtree_end(const Trace& trace, EventId root) {
  const Track& track = trace.tracks[trace.events.track[root]];
  const EventId track_end = track.first_event + track.event_count;
  const Nanoseconds end = trace.events.end(root);
  EventId event = root + 1;
  while (event < track_end && trace.events.start[event] < end) ++event;
  return event;
}

void Edit::scale_event(const Trace& trace, EventId event, float factor) { slot(scale, trace, event, 1.0F) *= factor; }

void Edit::drop_wait(const Trace& trace, EventId call) {
  if (is_free_of_waiting.empty()) is_free_of_waiting.resize(trace.events.size());
  is_free_of_waiting[call] = true;
}

void Edit::run_in_graph(const Trace& trace, EventId work) {
  if (is_graph_node.empty()) is_graph_node.resize(trace.events.size());
  is_graph_node[work] = true;
}

void Edit::scale_subtree(const Trace& trace, const LaunchedWork& launched, EventId root, float host_factor,
                         float device_factor) {
  const EventId end = subtree_end(trace, root);
  for (EventId event = root; event < end; ++event) scale_event(trace, event, host_factor);
  for (const EventId work : launched.of_range(root, end)) scale_event(trace, work, device_factor);
}

}  // namespace telltale
