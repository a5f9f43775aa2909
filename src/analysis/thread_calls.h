// The calls of one thread as a tree, and how long each works: ranges, functions, modules and operators.
//
// Pure and thread-safe once made; linear in the thread's events, but for a search among its waits or operators for each
// call.
#pragma once

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct Call {
  StringId name;
  Kind kind;
  Nanoseconds start, end;
  Nanoseconds work;
  EventId event;
};

using Calls = std::vector<Call>;

enum class Work : std::uint8_t {
  kAll,            // all time but waits for the device
  kOperators,      // only time in operators, and only calls that have any: without imports, and files that are read
  kOperatorCount,  // how many operators, whatever they took: one may have waited for a processor
};

class ThreadCalls {
 public:
  ThreadCalls(const Trace& trace, const Track& thread, Work counted = Work::kAll);

  // How long the thread works, or could; or how many operators it calls.
  Nanoseconds work() const { return work_between(0, trace_.duration); }
  Nanoseconds work_in(Interval time) const { return work_between(time.begin, time.end); }

  // In the order in which they begin.
  Calls outermost() const { return from(first_); }
  Calls inside(const Call& call) const { return from(first_inside_[call.event - thread_.first_event]); }

 private:
  Calls from(EventId event) const;
  void find_waits();
  void find_operators();
  Nanoseconds known_between(Nanoseconds start, Nanoseconds end) const;
  Nanoseconds begun_between(Nanoseconds start, Nanoseconds end) const;
  Nanoseconds work_between(Nanoseconds start, Nanoseconds end) const;

  const Trace& trace_;
  const Track& thread_;
  EventId first_ = kNoEvent;
  std::vector<EventId> next_, first_inside_;

  Work counted_;
  // Outermost operators, or waits for the device: a host that runs ahead may wait longer at the end than all its calls
  // take.
  std::vector<Interval> known_;           // ascending
  std::vector<Nanoseconds> until_ = {0};  // how long all before each of them take, and all at last
};

// The thread with the most events; null where there is none.
const Track* busiest_thread(const Trace& trace);

}  // namespace telltale
