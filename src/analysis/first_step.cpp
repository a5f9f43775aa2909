#include "analysis/first_step.h"

#include <algorithm>

#include "trace/step_marks.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

bool is_work(const Trace& trace, EventId event) {
  const Kind kind = trace.events.kind[event];
  if (kind != Kind::kAnnotation) return kind == Kind::kOperator;
  const std::string_view name = trace.name(event);
  return name != kUnrecordedStep && !maker_of_mark(name);
}

struct Call {
  StringId name;
  Nanoseconds start;
};

// The operators and annotations of a thread that begin in the span and stand in no other, by start.
std::vector<Call> outermost_calls(const Trace& trace, TrackId thread, Interval span) {
  const Events& events = trace.events;
  const Track& track = trace.tracks[thread];
  std::vector<Call> calls;
  Nanoseconds behind = 0;
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
    const Nanoseconds start = events.start[event];
    if (start >= span.end) break;
    if (start < behind || !is_work(trace, event)) continue;
    behind = events.end(event);
    if (start >= span.begin) calls.push_back({events.name[event], start});
  }
  return calls;
}

std::vector<Nanoseconds> starts_of(const std::vector<Call>& calls, StringId name) {
  std::vector<Nanoseconds> starts;
  for (const Call& call : calls)
    if (call.name == name) starts.push_back(call.start);
  return starts;
}

}  // namespace

void settle_first_step(const Trace& trace, std::vector<FoundStep>& steps) {
  if (steps.empty() || trace.steps.empty()) return;
  const TrackId thread = trace.events.track[trace.steps.front().event];
  const std::vector<Call> first = outermost_calls(trace, thread, steps.front().host);
  if (steps.size() == 1) {
    if (!first.empty()) steps.front().host.begin = first.front().start;
    return;
  }
  const std::vector<Call> second = outermost_calls(trace, thread, steps[1].host);
  if (second.empty()) return;
  for (const Call& opening : second) {
    const std::vector<Nanoseconds> starts = starts_of(first, opening.name);
    if (starts.empty()) continue;
    const std::size_t times = std::min(starts.size(), starts_of(second, opening.name).size());
    steps.front().host.begin = starts[starts.size() - times];
    return;
  }
  steps.erase(steps.begin());
}

Nanoseconds start_of_work(const Trace& trace) {
  Nanoseconds first = trace.duration;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.start[event] < first && is_work(trace, event)) first = trace.events.start[event];
  return first == trace.duration ? 0 : first;
}

}  // namespace telltale
