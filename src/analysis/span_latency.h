// How long what happens again and again takes: requests and other spans that belong to no thread, and the scopes at the
// top of threads. Of requests also what served them, and how long they waited for it.
//
// Pure and thread-safe; O(n log n) in spans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "trace/nesting.h"
#include "trace/trace.h"

namespace telltale {

// What served a request: which event an arrow led to from where a span that belongs to no thread began.
//
// A span is served by an event when an arrow leads to it from an event that was open when the span began. Where several
// do, that one counts in which the span ended, or the only one that began before the span did. Where the trace does not
// tell, nothing is guessed.
class SpanServices {
 public:
  // The trace must outlive it.
  explicit SpanServices(const Trace& trace);

  // The event that served the span, which begins within it; kNoEvent when that is not known. O(threads · log events).
  EventId served_by(EventId span) const;

 private:
  struct Arrow {
    EventId from = kNoEvent, to = kNoEvent;
  };

  EventId target_at_end(EventId span) const;
  EventId only_target_within(EventId span) const;
  // When it left, of the arrow that left last of those that lead from an event open at `time` to `target`; -1: none.
  Nanoseconds left_for(EventId target, Nanoseconds time) const;

  const Trace& trace_;
  OpenRows open_rows_;
  std::vector<Arrow> by_target_, by_source_;  // by event, then by the start of its other end
  std::vector<TrackId> target_threads_, source_threads_;
};

// Of the spans of which the trace tells what served them (see SpanServices).
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
