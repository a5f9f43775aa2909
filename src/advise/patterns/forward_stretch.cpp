#include "advise/patterns/forward_stretch.h"

#include <algorithm>

namespace telltale {

std::vector<BackwardCall> backward_calls_of(const Facts& facts, std::span<const ForwardStretch> stretches) {
  if (stretches.empty()) return {};
  const Events& events = facts.trace.events;
  std::vector<std::uint32_t> stretch_of(events.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < stretches.size(); ++i)
    std::fill(stretch_of.begin() + stretches[i].first, stretch_of.begin() + stretches[i].end, i);
  std::vector<BackwardCall> calls;
  EventId end = 0;  // of the last call found
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId cause = events.cause[event];
    if (event < end || events.kind[event] != Kind::kOperator || cause == kNoEvent) continue;
    if (stretch_of[cause] == UINT32_MAX || stretch_of[event] == stretch_of[cause]) continue;
    calls.push_back({event, stretch_of[cause]});
    end = subtree_end(facts.trace, event);
  }
  return calls;
}

EventId outermost_operator_apart(const Trace& trace, EventId event, EventId other) {
  const Nanoseconds start = trace.events.start[other], end = trace.events.end(other);
  EventId outermost = event;
  for (EventId op = trace.ancestor(event, Kind::kOperator); op != kNoEvent; op = trace.ancestor(op, Kind::kOperator)) {
    if (trace.events.start[op] <= start && end <= trace.events.end(op)) break;
    outermost = op;
  }
  return outermost;
}

std::vector<std::vector<EventId>> work_of_stretches(const Facts& facts, std::span<const ForwardStretch> stretches,
                                                    std::span<const BackwardCall> backward) {
  std::vector<std::vector<EventId>> work(stretches.size());
  const auto add = [&](std::size_t stretch, EventId first, EventId end) {
    const std::span<const EventId> launched = facts.launched.of_range(first, end);
    work[stretch].insert(work[stretch].end(), launched.begin(), launched.end());
  };
  for (std::size_t i = 0; i < stretches.size(); ++i) add(i, stretches[i].first, stretches[i].end);
  for (const BackwardCall& call : backward) add(call.stretch, call.op, subtree_end(facts.trace, call.op));
  return work;
}

void drop_operators(const Facts& facts, Edit& edit, EventId first, EventId end) {
  for (EventId event = first; event < end; ++event) {
    const HostWork work = facts.host_work[event];
    if (work == HostWork::kOperators || work == HostWork::kLaunching) edit.scale_event(facts.trace, event, 0);
  }
}

}  // namespace telltale
