// A thread's time cut where its innermost event changes.
//
// Pure and thread-safe; linear in the events of the thread.
#pragma once

#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct HostSegment {
  Interval when;
  EventId event = kNoEvent;  // the innermost event open on the thread; kNoEvent between events

  bool operator==(const HostSegment&) const = default;
};

// One segment after the other, for those who need no list of them: that of a long trace takes more memory than its
// events. Where events overlap in part, the one that began last counts as the innermost. The trace must outlive it.
class HostSegmentWalk {
 public:
  HostSegmentWalk(const Trace& trace, TrackId thread, Interval window);

  // Goes to the next segment, at first to the first one; false at the end. Segments cover `window` without gaps or
  // overlaps, in order; none is empty, and neighbors differ.
  bool next();
  const HostSegment& segment() const { return segment_; }

 private:
  void open_and_close();
  EventId innermost() const { return open_.empty() ? kNoEvent : open_.back(); }
  Nanoseconds next_change() const;

  const Events& events_;
  Interval window_;
  EventId next_, end_;   // the thread's events that are not open yet
  HostSegment segment_;  // the next one begins where it ends
  std::vector<EventId> open_;
};

// All segments of one thread.
std::vector<HostSegment> host_segments(const Trace& trace, TrackId thread, Interval window);

}  // namespace telltale
