// What a writer makes of a trace, in memory.
#pragma once

#include <gtest/gtest.h>

#include "formats/output/left_out.h"
#include "formats/output/testing/sinks.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale {

struct Written {
  std::string text;
  LeftOutList left_out;
};

inline Written written_by(LeftOutList (*write)(const Trace&, TextWriter&, const WriteProgress&), const Trace& trace) {
  MemorySink sink;
  TextWriter out(sink);
  LeftOutList left_out = write(trace, out, {});
  EXPECT_TRUE(out.finish());
  return {std::move(sink.text), std::move(left_out)};
}

// A row behind all others; rows of one track must follow one another.
inline EventId append_event(Trace& trace, TrackId track, Kind kind, std::string_view name, Nanoseconds start,
                            Nanoseconds duration, EventId parent = kNoEvent, EventId cause = kNoEvent) {
  Events& events = trace.events;
  if (trace.tracks[track].event_count++ == 0) trace.tracks[track].first_event = static_cast<EventId>(events.size());
  events.start.push_back(start);
  events.duration.push_back(duration);
  events.name.push_back(trace.strings.intern(name));
  events.kind.push_back(kind);
  events.track.push_back(track);
  events.parent.push_back(parent);
  events.cause.push_back(cause);
  return static_cast<EventId>(events.size() - 1);
}

}  // namespace telltale
