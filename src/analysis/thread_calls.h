// The calls of one thread as a tree, and how long each works: ranges, functions, modules and operators.
//
// Pure and thread-safe once made; linear in the thread's events, but for a search among its waits for each call.
#pragma once

#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct Call {
  StringId name;
  Kind kind;
  Nanoseconds start, end;
  Nanoseconds work;  // of its time, without waits for the device
  EventId event;
};

using Calls = std::vector<Call>;

class ThreadCalls {
 public:
  ThreadCalls(const Trace& trace, const Track& thread);

  // How long the thread has time to work.
  Nanoseconds work() const { return trace_.duration - waited_.back(); }

  // In the order in which they begin.
  Calls outermost() const { return from(first_); }
  Calls inside(const Call& call) const { return from(first_inside_[call.event - thread_.first_event]); }

 private:
  Calls from(EventId event) const;
  void find_waits();
  Nanoseconds waited_until(Nanoseconds time) const;

  const Trace& trace_;
  const Track& thread_;
  EventId first_ = kNoEvent;
  std::vector<EventId> next_, first_inside_;

  // For the device. A host that runs ahead may wait longer at the end than all its calls take.
  std::vector<Interval> waits_;            // ascending
  std::vector<Nanoseconds> waited_ = {0};  // how long all before each of them take, and all at last
};

// The thread with the most events; null where there is none.
const Track* busiest_thread(const Trace& trace);

}  // namespace telltale
