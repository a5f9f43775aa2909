// What served a request: which event an arrow led to from where a span that belongs to no thread began.
//
// A span is served by an event when an arrow leads to it from an event that was open when the span began. Where several
// do, that one counts in which the span ended, or the only one that began before the span did. Where the trace does not
// tell, nothing is guessed.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace telltale {

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
  std::vector<Arrow> by_target_, by_source_;  // by event, then by the start of its other end
  std::vector<TrackId> target_threads_, source_threads_;
};

}  // namespace telltale
