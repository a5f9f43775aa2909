// Collectives that the host itself runs (gloo, MPI, UCC), and which of a thread's time waits for them.
//
// Such a backend has threads of its own, on which the collective is an annotation: "gloo:all_reduce". The thread that
// needs the result waits for it in native code that shows nothing, such as the end of a backward pass. So time in which
// a thread is in a built-in, in no event at all or blocked in a lock, while a collective is under way, waits for that.
//
// Made in time linear in the events; then only read.
#pragma once

#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// "gloo:all_reduce", "mpi:barrier".
bool is_host_collective(std::string_view name);

class HostCollectives {
 public:
  explicit HostCollectives(const Trace& trace);

  // By start.
  const std::vector<EventId>& events() const { return events_; }
  bool empty() const { return events_.empty(); }

  // Whether time with this innermost event (or kNoEvent) may be spent waiting for a collective.
  bool may_wait_in(EventId innermost) const;

  // Cuts `when` at the collectives' bounds; visit(piece, is_waiting) is called in order, for pieces that are not empty.
  template <typename Visit>
  void cut(Interval when, EventId innermost, Visit visit) const {
    if (running_.empty() || !may_wait_in(innermost)) return visit(when, false);
    Nanoseconds at = when.begin;
    for (auto run = first_that_ends_after(when.begin); run != running_.end() && run->begin < when.end; ++run) {
      const Interval waiting{std::max(run->begin, when.begin), std::min(run->end, when.end)};
      if (waiting.begin > at) visit(Interval{at, waiting.begin}, false);
      if (waiting.end > waiting.begin) visit(waiting, true);
      at = waiting.end;
    }
    if (at < when.end) visit(Interval{at, when.end}, false);
  }

 private:
  std::vector<Interval>::const_iterator first_that_ends_after(Nanoseconds time) const;

  const Trace& trace_;
  std::vector<EventId> events_;
  std::vector<Interval> running_;   // united
  std::vector<bool> says_nothing_;  // by name: a built-in that may wait for anything
};

}  // namespace telltale
