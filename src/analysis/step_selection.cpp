#include "analysis/step_selection.h"

#include <algorithm>

namespace telltale {
namespace {

// Whether an event has a part in one of the windows, which are ascending and apart from each other.
bool overlaps_any(const Events& events, EventId event, const std::vector<Interval>& windows) {
  const auto first_behind_start =
      std::ranges::partition_point(windows, [&](Interval window) { return window.end <= events.start[event]; });
  return first_behind_start != windows.end() && overlaps(events, event, *first_behind_start);
}

}  // namespace

Selection selection_of(const Trace& trace, const StepRange& range) {
  std::vector<Interval> windows;
  for (const StepId step : steps_in(trace, range)) {
    const Step& chosen = trace.steps[static_cast<std::size_t>(step)];
    windows.push_back({chosen.start, chosen.start + chosen.duration});
  }
  Selection selection{std::vector<bool>(trace.events.size()), united(std::move(windows))};
  const StepFilter filter(trace, range);
  std::vector<bool> has_looked_around(trace.events.size());
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const Kind kind = trace.events.kind[event];
    if (!is_on_device(kind)) {
      selection.events[event] = overlaps_any(trace.events, event, selection.windows);
    } else if (kind != Kind::kDeviceAnnotation && filter.accepts(event)) {
      selection.events[event] = true;
      for (EventId at = trace.events.parent[event]; at != kNoEvent && !has_looked_around[at];
           at = trace.events.parent[at]) {
        has_looked_around[at] = true;
        if (trace.events.kind[at] == Kind::kDeviceAnnotation) selection.events[at] = true;
      }
    }
  }
  return selection;
}

}  // namespace telltale
