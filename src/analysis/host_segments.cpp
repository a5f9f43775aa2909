#include "analysis/host_segments.h"

#include <algorithm>

namespace telltale {
namespace {

// Walks one thread in row order with a stack of open events, and writes a segment wherever the innermost one changes.
class Segmenter {
 public:
  Segmenter(const Trace& trace, Interval window) : trace_(trace), window_(window), at_(window.begin) {}

  void begin(EventId event) {
    const Nanoseconds start = trace_.events.start[event];
    close_until(start);
    advance(start);
    open_.push_back(event);
  }

  std::vector<HostSegment> finish() {
    close_until(window_.end);
    advance(window_.end);
    return std::move(segments_);
  }

 private:
  void close_until(Nanoseconds time) {
    while (!open_.empty() && trace_.events.end(open_.back()) <= time) {
      advance(trace_.events.end(open_.back()));
      open_.pop_back();
    }
  }

  // The innermost event fills the time up to `time`.
  void advance(Nanoseconds time) {
    time = std::min(time, window_.end);
    if (time <= at_) return;
    const EventId innermost = open_.empty() ? kNoEvent : open_.back();
    if (!segments_.empty() && segments_.back().event == innermost && segments_.back().when.end == at_)
      segments_.back().when.end = time;
    else
      segments_.push_back({{at_, time}, innermost});
    at_ = time;
  }

  const Trace& trace_;
  Interval window_;
  Nanoseconds at_;
  std::vector<EventId> open_;
  std::vector<HostSegment> segments_;
};

}  // namespace

std::vector<HostSegment> host_segments(const Trace& trace, TrackId thread, Interval window) {
  const Track& track = trace.tracks[thread];
  Segmenter segmenter(trace, window);
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
    if (trace.events.start[event] >= window.end) break;
    if (trace.events.end(event) > window.begin) segmenter.begin(event);
  }
  return segmenter.finish();
}

}  // namespace telltale
