#include "advise/covering_calls.h"

#include <algorithm>
#include <set>

#include "analysis/host_timeline.h"

namespace telltale {

std::vector<EventId> covering_calls(const Facts& facts, HostWork work) {
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  const Events& events = facts.trace.events;
  std::vector<EventId> calls;
  for (const TrackId thread : launching_threads(facts.trace, {steps.front().host.begin, steps.back().host.end})) {
    const Track& track = facts.trace.tracks[thread];
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (facts.host_work[event] != work) continue;
      const EventId parent = events.parent[event];
      if (parent != kNoEvent && facts.host_work[parent] == work) continue;
      if (facts.is_in_steps(event)) calls.push_back(event);
    }
  }
  std::ranges::stable_sort(calls, std::ranges::greater{}, [&](EventId call) { return events.duration[call]; });
  return calls;
}

Nanoseconds time_in(const Facts& facts, const std::vector<EventId>& calls) {
  Nanoseconds time = 0;
  for (const EventId call : calls) time += facts.trace.events.duration[call];
  return static_cast<Nanoseconds>(static_cast<double>(time) / facts.steps());
}

std::size_t steps_with(const Facts& facts, const std::vector<EventId>& calls) {
  std::set<int> steps;
  for (const EventId call : calls) steps.insert(step_at(facts.diagnosis.timing, facts.trace.events.start[call]));
  return steps.size();
}

}  // namespace telltale
