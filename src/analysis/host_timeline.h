// What the host does, moment by moment: on one thread, and on the threads that feed a device together, the calling
// thread and, while it waits for the backward pass, the thread that runs that pass.
//
// Pure and thread-safe; linear in the events of those threads.
#pragma once

#include <vector>

#include "analysis/host_work.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// A piece of a thread's time, cut where its innermost event changes.
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

// Threads that launch device work within the window, those that launch the most first; without any, the thread with the
// most operators or, where there are none, with the most events.
std::vector<TrackId> launching_threads(const Trace& trace, Interval window);

// One line of work made from threads that hand over to one another. At each moment it shows the thread that works: one
// whose innermost event is an operator or an API call before one that is in Python, one in Python before one that
// waits, and that before one in nothing; of several, the first. Threads that work at the same time cannot be told apart
// this way; see independent_lanes. The trace and its work must outlive it.
class HostTimeline {
 public:
  HostTimeline(const Trace& trace, const std::vector<TrackId>& threads, Interval window,
               const std::vector<HostWork>& host_work);

  // Goes to the next segment, at first to the first one; false at the end. Segments cover the window without gaps or
  // overlaps, in order; none is empty, and neighbors differ. Without any thread, one without an event covers it all.
  bool next();
  const HostSegment& segment() const { return segment_; }

 private:
  EventId shown() const;
  void advance();

  const std::vector<HostWork>& host_work_;
  Interval window_;
  HostSegment segment_;  // the next one begins where it ends
  std::vector<HostSegmentWalk> threads_;
};

// The threads divided into groups that hand over to one another: two threads whose work mostly overlaps in time are
// independent, and stand in different groups.
std::vector<std::vector<TrackId>> independent_lanes(const Trace& trace, const std::vector<TrackId>& threads,
                                                    Interval window, const std::vector<HostWork>& host_work);

}  // namespace telltale
