// What the host does, moment by moment, on the threads that feed a device: the calling thread and, while it waits for
// the backward pass, the thread that runs that pass.
//
// Pure and thread-safe; linear in the events of those threads.
#pragma once

#include <vector>

#include "analysis/host_segments.h"
#include "analysis/host_work.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// Threads that launch device work within the window, those that launch the most first; without any, the thread with the
// most events.
std::vector<TrackId> launching_threads(const Trace& trace, Interval window);

// One line of work made from threads that hand over to one another. At each moment it shows the thread that works: one
// whose innermost event is an operator or an API call before one that is in Python, one in Python before one that is in
// nothing; of several, the first. Threads that work at the same time cannot be told apart this way; see
// independent_lanes. The trace and its work must outlive it.
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
