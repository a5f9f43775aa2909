#include "analysis/host_waits.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "analysis/backward_elsewhere.h"
#include "analysis/breakdown.h"
#include "analysis/host_collectives.h"
#include "analysis/host_timeline.h"

namespace telltale {
namespace {

using Place = std::tuple<WaitFor, std::string, int, std::string>;

// Of one call. Before and behind the collective that it is for, it waits a little longer.
struct WaitTime {
  Nanoseconds for_ranks = 0, other = 0;
};

// A wait may be made of calls that wait.
EventId outermost_wait(const Trace& trace, const std::vector<HostWork>& host_work, EventId event) {
  for (EventId parent = trace.events.parent[event]; parent != kNoEvent && host_work[parent] == HostWork::kWaiting;
       parent = trace.events.parent[parent])
    event = parent;
  return event;
}

Place place_of(WaitFor what, const std::optional<SourceLine>& source) {
  if (!source) return {what, "", 0, ""};
  return {what, source->file, source->line, source->function};
}

}  // namespace

std::vector<HostWait> host_waits(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work) {
  const HostCollectives collectives(trace);
  std::map<EventId, WaitTime> time_by_call;
  HostTimeline timeline(trace, launching_threads(trace, timing.window), timing.window, host_work);
  while (timeline.next()) {
    const auto& [when, event] = timeline.segment();
    if (event == kNoEvent || host_work[event] != HostWork::kWaiting) continue;
    collectives.cut(when, event, [&](Interval piece, bool is_communication) {
      WaitTime& time = time_by_call[outermost_wait(trace, host_work, event)];
      (is_communication ? time.for_ranks : time.other) += piece.length();
    });
  }
  const BackwardElsewhere backward(trace);
  std::map<Place, HostWait> by_place;
  for (const auto& [call, time] : time_by_call) {
    if (time.for_ranks > time.other || backward.begins_within(call)) continue;
    const WaitFor what = waited_for(trace, call);
    std::optional<SourceLine> source = source_line(trace, call);
    HostWait& wait = by_place[place_of(what, source)];
    wait.what = what;
    wait.source = std::move(source);
    wait.ns += time.other;
    wait.calls.push_back(call);
  }
  std::vector<HostWait> waits;
  for (auto& [place, wait] : by_place) {
    wait.ns = static_cast<Nanoseconds>(static_cast<double>(wait.ns) / timing.periods);
    wait.percent = percent_of(wait.ns, timing.period());
    std::ranges::stable_sort(wait.calls, std::ranges::greater{},
                             [&](EventId call) { return trace.events.duration[call]; });
    waits.push_back(std::move(wait));
  }
  std::ranges::stable_sort(waits, std::ranges::greater{}, &HostWait::ns);
  return waits;
}

}  // namespace telltale
