#include "analysis/step_range.h"

#include <algorithm>
#include <utility>

namespace telltale {

namespace {

// The first of the windows that ends behind a moment.
auto first_behind(const std::vector<Interval>& windows, Nanoseconds time) {
  return std::ranges::partition_point(windows, [&](Interval window) { return window.end <= time; });
}

// Whether an event has a part in one of the windows.
bool overlaps_any(const Events& events, EventId event, const std::vector<Interval>& windows) {
  const auto window = first_behind(windows, events.start[event]);
  return window != windows.end() && overlaps(events, event, *window);
}

}  // namespace

std::vector<FoundStep> steps_in(const Trace& trace, const StepRange& range) {
  FoundSteps found = found_steps(trace);
  if (found.source == StepSource::kWhole) return {};
  std::erase_if(found.steps, [&](const FoundStep& step) { return !range.contains(step.index); });
  return std::move(found.steps);
}

StepFilter::StepFilter(const Trace& trace, const StepRange& range) : trace_(trace) {
  for (const FoundStep& step : steps_in(trace, range)) windows_.push_back(step.host);
  windows_ = united(std::move(windows_));
}

bool StepFilter::accepts(EventId event) const {
  const EventId cause = is_on_device(trace_.events.kind[event]) ? trace_.events.cause[event] : kNoEvent;
  const Nanoseconds time = trace_.events.start[cause == kNoEvent ? event : cause];
  const auto window = first_behind(windows_, time);
  return window != windows_.end() && window->begin <= time;
}

Selection selection_of(const Trace& trace, const StepRange& range) {
  const StepFilter filter(trace, range);
  Selection selection{std::vector<bool>(trace.events.size()), filter.windows()};
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
