#include "analysis/step_range.h"

#include <algorithm>

namespace telltale {

std::vector<StepId> steps_in(const Trace& trace, const StepRange& range) {
  std::vector<StepId> chosen;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (range.contains(trace.steps[i])) chosen.push_back(static_cast<StepId>(i));
  }
  return chosen;
}

StepFilter::StepFilter(const Trace& trace, const StepRange& range) : trace_(trace), is_chosen_(trace.steps.size()) {
  for (const StepId step : steps_in(trace, range)) is_chosen_[static_cast<std::size_t>(step)] = true;
}

bool StepFilter::accepts(EventId event) const {
  const StepId step = trace_.step_of(event);
  return step != kNoStep && is_chosen_[static_cast<std::size_t>(step)];
}

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
