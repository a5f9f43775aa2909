#include "timeline/event_links.h"

#include <algorithm>
#include <array>

#include "base/merge_runs.h"

namespace telltale {
namespace {

constexpr EventId kMostLookedThrough = 2'000'000;

// Counts what does not fit.
struct Collector {
  EventLinkList& list;
  std::size_t most;

  void add(LinkRole role, bool is_cause, EventId event) {
    if (event == kNoEvent) return;
    if (list.links.size() < most)
      list.links.push_back({role, is_cause, event});
    else
      ++list.left_out;
  }
};

LinkRole role_of_cause(const Trace& trace, EventId event) {
  if (is_on_device(trace.events.kind[event])) return LinkRole::kLaunchedBy;
  return trace.events.kind[event] == Kind::kOperator ? LinkRole::kForward : LinkRole::kCalledBy;
}

LinkRole role_of_effect(const Trace& trace, EventId effect) {
  return trace.events.kind[effect] == Kind::kOperator ? LinkRole::kBackward : LinkRole::kLaunches;
}

// A call that launches nothing has no more to do with its operator than any other call inside it.
void add_causes(const Trace& trace, EventId event, bool launches, Collector& found) {
  const EventId cause = trace.events.cause[event];
  found.add(role_of_cause(trace, event), true, cause);
  const bool is_called = is_on_device(trace.events.kind[event]) || (launches && is_api_call(trace.events.kind[event]));
  const EventId op = is_called ? trace.operator_of(event) : kNoEvent;
  if (op != cause) found.add(LinkRole::kCalledBy, true, op);
  if (const GraphOrigin* origin = trace.graph_origins.find(event))
    found.add(LinkRole::kCapturedBy, true, origin->captured_in);
  for (const Flow& flow : trace.flows)
    if (flow.to == event) found.add(LinkRole::kFlow, true, flow.from);
}

}  // namespace

std::string_view name_of(LinkRole role) {
  constexpr std::array<std::string_view, 8> kNames = {"launched by", "launches",    "called by", "forward",
                                                      "backward",    "captured by", "captures",  "flow"};
  return kNames[static_cast<std::size_t>(role)];
}

EventLinks::EventLinks(const Trace& trace) : trace_(trace) {
  const std::vector<EventId>& cause = trace.events.cause;
  effects_.reserve(
      static_cast<std::size_t>(std::ranges::count_if(cause, [](EventId each) { return each != kNoEvent; })));
  for (EventId event = 0; event < cause.size(); ++event)
    if (cause[event] != kNoEvent) effects_.push_back(event);
  merge_runs(std::span(effects_), [&](EventId a, EventId b) { return cause[a] < cause[b]; });
}

std::span<const EventId> EventLinks::effects_of(EventId event) const {
  const auto found =
      std::ranges::equal_range(effects_, event, {}, [&](EventId effect) { return trace_.events.cause[effect]; });
  return {found.begin(), found.end()};
}

EventLinkList EventLinks::of(EventId event, std::size_t most) const {
  const Events& events = trace_.events;
  EventLinkList list;
  Collector found{list, most};
  const auto own_effects = effects_of(event);
  add_causes(trace_, event, !own_effects.empty(), found);
  for (const EventId effect : own_effects) found.add(role_of_effect(trace_, effect), false, effect);

  // What is called within launches for the one who called it.
  const Track& track = trace_.tracks[events.track[event]];
  const EventId end = track.first_event + track.event_count;
  const EventId last = event + std::min(end - event, kMostLookedThrough);
  for (EventId inside = event + 1; inside < last && events.start[inside] < events.end(event); ++inside) {
    if (!is_api_call(events.kind[inside]) || events.end(inside) > events.end(event)) continue;
    const auto effects = effects_of(inside);
    if (effects.empty()) continue;
    found.add(LinkRole::kLaunches, false, inside);
    for (const EventId effect : effects) found.add(role_of_effect(trace_, effect), false, effect);
  }

  for (std::size_t i = 0; i < trace_.graph_origins.size(); ++i)
    if (trace_.graph_origins.row(i).captured_in == event)
      found.add(LinkRole::kCaptures, false, trace_.graph_origins.event(i));
  for (const Flow& flow : trace_.flows)
    if (flow.from == event) found.add(LinkRole::kFlow, false, flow.to);
  return list;
}

}  // namespace telltale
