#include "advise/patterns/host_time.h"

#include <vector>

namespace telltale {

void visit_host_time(const Facts& facts, const std::function<void(const HostMoment&)>& visit) {
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  const Interval window{steps.front().host.begin, steps.back().host.end};
  const std::vector<TrackId> threads = launching_threads(facts.trace, window);
  for (const std::vector<TrackId>& lane : independent_lanes(facts.trace, threads, window, facts.host_work)) {
    HostTimeline timeline(facts.trace, lane, window, facts.host_work);
    HostMoment moment;
    bool has_moment = false;
    while (timeline.next()) {
      moment.behind = timeline.segment().event;
      if (has_moment) visit(moment);
      moment = {timeline.segment(), has_moment ? moment.here.event : kNoEvent, kNoEvent};
      has_moment = true;
    }
    if (has_moment) visit(moment);
  }
}

}  // namespace telltale
