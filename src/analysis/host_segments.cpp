#include "analysis/host_segments.h"

#include <algorithm>

namespace telltale {

HostSegmentWalk::HostSegmentWalk(const Trace& trace, TrackId thread, Interval window)
    : events_(trace.events),
      window_(window),
      next_(trace.tracks[thread].first_event),
      end_(trace.tracks[thread].first_event + trace.tracks[thread].event_count),
      segment_{{window.begin, window.begin}, kNoEvent} {
  open_and_close();
}

bool HostSegmentWalk::next() {
  if (segment_.when.end >= window_.end) return false;
  segment_ = {{segment_.when.end, segment_.when.end}, innermost()};
  // Events without a duration change nothing.
  do {
    segment_.when.end = next_change();
    open_and_close();
  } while (segment_.when.end < window_.end && innermost() == segment_.event);
  return true;
}

void HostSegmentWalk::open_and_close() {
  const Nanoseconds now = segment_.when.end;
  while (!open_.empty() && events_.end(open_.back()) <= now) open_.pop_back();
  for (; next_ < end_ && events_.start[next_] <= now; ++next_)
    if (events_.end(next_) > now) open_.push_back(next_);
}

Nanoseconds HostSegmentWalk::next_change() const {
  Nanoseconds change = window_.end;
  if (!open_.empty()) change = std::min(change, events_.end(open_.back()));
  if (next_ < end_) change = std::min(change, events_.start[next_]);
  return change;
}

std::vector<HostSegment> host_segments(const Trace& trace, TrackId thread, Interval window) {
  std::vector<HostSegment> segments;
  HostSegmentWalk walk(trace, thread, window);
  while (walk.next()) segments.push_back(walk.segment());
  return segments;
}

}  // namespace telltale
