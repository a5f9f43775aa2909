// What a program does apart from its steps: how busy each thread of the host is and with what, and what its counters
// showed, such as a queue's depth.
//
// A thread is busy while it is in an event, and idle while it is in none: whoever records a program leaves its waits
// outside of scopes. Marks of steps do not count, since they cover both. A counter keeps its value until the next one.
//
// Pure and thread-safe; linear in the events of threads and the values of counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// Everything with one name on one thread.
struct ScopeTime {
  std::string name;
  double calls = 0;            // that begin in the window
  Nanoseconds own_ns = 0;      // without the calls inside
  EventId longest = kNoEvent;  // of those calls
};

struct ThreadActivity {
  TrackId track = 0;
  std::string name;
  Nanoseconds busy_ns = 0;
  std::vector<ScopeTime> scopes;  // by falling own time; it adds up to busy_ns
};

struct HostActivity {
  Nanoseconds window_ns = 0;            // in which threads could have been busy
  std::vector<ThreadActivity> threads;  // those that have events there, by falling busy time

  double busy_percent(const ThreadActivity& thread) const {
    return window_ns <= 0 ? 0 : 100.0 * static_cast<double>(thread.busy_ns) / static_cast<double>(window_ns);
  }
};

HostActivity host_activity(const Trace& trace, Interval window);

// For each event whether it is the mark of a step.
std::vector<bool> step_marks(const Trace& trace);

// When a thread is busy, in the sense above.
std::vector<Interval> busy_times(const Trace& trace, TrackId thread, const std::vector<bool>& is_step);

// The values of one series of a counter.
struct CounterSummary {
  std::string name, series;
  std::int64_t values = 0;  // within the window
  double minimum = 0, maximum = 0, last = 0;
  double mean = 0;  // over the time from the first value on
};

// Those that have a value within the window, in the order of the trace.
std::vector<CounterSummary> counter_summaries(const Trace& trace, Interval window);

}  // namespace telltale
