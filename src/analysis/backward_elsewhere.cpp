#include "analysis/backward_elsewhere.h"

#include <algorithm>

namespace telltale {

BackwardElsewhere::BackwardElsewhere(const Trace& trace) : trace_(trace) {
  for (std::size_t row = 0; row < trace.operators.size(); ++row) {
    if (trace.operators.row(row).forward_thread == 0) continue;
    const EventId event = trace.operators.event(row);
    begins_.emplace_back(trace.events.start[event], trace.events.track[event]);
  }
  std::ranges::sort(begins_);
}

bool BackwardElsewhere::begins_within(EventId wait) const {
  const auto first = std::ranges::lower_bound(begins_, std::pair(trace_.events.start[wait], TrackId{0}));
  return first != begins_.end() && first->first < trace_.events.end(wait) && first->second != trace_.events.track[wait];
}

}  // namespace telltale
