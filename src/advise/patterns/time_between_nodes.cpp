#include "advise/patterns/time_between_nodes.h"

#include <algorithm>

#include "advise/patterns/host_time.h"

namespace telltale {
namespace {

// Of two that autograd's thread runs one after the other, while another thread waits.
bool is_between_nodes(const Trace& trace, const HostMoment& moment) {
  const auto& [here, before, behind] = moment;
  if (before == kNoEvent || behind == kNoEvent || !trace.name(behind).starts_with(kEngineCall)) return false;
  const std::vector<TrackId>& track = trace.events.track;
  return track[before] == track[behind] && track[here.event] != track[behind];
}

}  // namespace

std::vector<TimeBetween> time_between_nodes(const Facts& facts, const Edit& edit) {
  std::vector<TimeBetween> between(facts.trace.events.size());
  visit_host_time(facts, [&](const HostMoment& moment) {
    const EventId event = moment.here.event;
    if (event == kNoEvent) return;
    const auto length = static_cast<double>(moment.here.when.length());
    between[event].shown += length;
    if (!is_between_nodes(facts.trace, moment)) return;
    const float left = edit.scale.empty() ? 1 : edit.scale[moment.behind];
    between[event].gone += length * static_cast<double>(1 - left);
  });
  return between;
}

void shorten_by(const Facts& facts, const std::vector<TimeBetween>& between, Edit& edit) {
  for (EventId event = 0; event < between.size(); ++event) {
    const TimeBetween& time = between[event];
    if (time.gone > 0 && time.shown > 0)
      edit.scale_event(facts.trace, event, static_cast<float>(std::max(0.0, 1 - time.gone / time.shown)));
  }
}

}  // namespace telltale
