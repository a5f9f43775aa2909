// How long what happens again and again takes: requests and other spans that belong to no thread, and the scopes at the
// top of threads. Of requests also how long they wait before something serves them.
//
// Pure and thread-safe; O(n log n) in spans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// Of the spans of which the trace tells what served them (see span_service.h).
struct SpanWaiting {
  std::int64_t spans = 0;
  Nanoseconds total_ns = 0;    // of these spans
  Nanoseconds waiting_ns = 0;  // of it, until what served them began
  // Of that, while a thread that serves was idle, from its first event to its last: not for want of threads.
  Nanoseconds beside_idle_ns = 0;
  Nanoseconds p50_ns = 0, p99_ns = 0;  // how long one waits
  std::string served_in;               // the name of what serves most of them
  std::vector<TrackId> threads;        // that serve
  double busy_percent = 0;             // of these threads, over the window

  double waiting_percent() const {
    return total_ns <= 0 ? 0 : 100.0 * static_cast<double>(waiting_ns) / static_cast<double>(total_ns);
  }
};

// Everything with one name.
struct SpanLatency {
  std::string name;
  bool is_async = false;        // belongs to no thread
  std::int64_t count = 0;       // that begin in the window
  std::int64_t unfinished = 0;  // and others that have no end; no number below counts them
  // By the nearest rank: p90 is the smallest of these times that is not exceeded by 90 % of them.
  Nanoseconds p50_ns = 0, p90_ns = 0, p99_ns = 0, max_ns = 0;
  Nanoseconds total_ns = 0;
  EventId longest = kNoEvent;
  std::optional<SpanWaiting> waiting;
};

// Spans of no thread first, then scopes that come at least three times, each by falling total time.
std::vector<SpanLatency> span_latencies(const Trace& trace, Interval window);

}  // namespace telltale
