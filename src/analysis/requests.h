// Requests of a program that marks none, as a server's are: calls of its model.
//
// A request is a call of a module that stands in no other one. Where each call of a function or range around them makes
// several, as a loop does that generates tokens, that function's call is the request. A program that trains has steps,
// and no requests.
//
// Pure and thread-safe; linear in events, but for sorting requests by time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// What threads wait for, by the word of the recorder: "lock", "socket", "sleep", …
struct WaitTime {
  std::string what;
  Nanoseconds ns = 0;
};

struct Requests {
  std::string name;  // of the function, or of the module's class
  Nanoseconds p50_ns = 0, p99_ns = 0, total_ns = 0;
  bool are_calls_of_module = true;
  bool are_on_event_loop = false;  // most of them run where asyncio's loop does
  double calls = 1;                // of modules, in a request
  std::vector<EventId> events;     // by start
  Interval window;                 // from the first start to the last end
  std::vector<TrackId> threads;    // that serve
  std::int64_t most_at_once = 0;
  double mean_at_once = 0;                            // while there is any
  double busy_percent = 0;                            // of these threads, within requests, over the window
  std::vector<WaitTime> waits_between, waits_inside;  // of these threads in the window, by falling time
  std::optional<std::int64_t> rows;                   // of the first input, in most requests

  double per_second() const;
};

// Calls of modules that stand in no other one, thread by thread.
std::vector<EventId> outermost_modules(const Trace& trace);

// Nothing with fewer than three requests, or in a program that trains or marks its steps.
std::optional<Requests> requests_of(const Trace& trace);

// What a thread does for each request, on the thread that spends most time in them, ascending: from where it stops
// waiting for one to where it waits for the next. Empty where it hardly waits, so that nothing but what it does
// repeats. What nothing was recorded of counts as waiting only where that is asked for.
enum class SilentTime : std::uint8_t { kIsWork, kIsWaiting };
std::vector<Interval> served_passes(const Trace& trace, SilentTime silent);

// What a span of that name waits for: "<waits for lock>" → "lock"; empty for others.
std::string_view awaited_in(std::string_view name);

}  // namespace telltale
