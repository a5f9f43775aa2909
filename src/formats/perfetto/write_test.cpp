#include "formats/perfetto/write.h"

#include <gtest/gtest.h>

#include "formats/output/testing/sinks.h"

namespace telltale::perfetto {
namespace {

std::string written(const Trace& trace) {
  MemorySink sink;
  TextWriter out(sink);
  write(trace, out);
  EXPECT_TRUE(out.finish());
  return std::move(sink.text);
}

Trace one_event(Nanoseconds start) {
  Trace trace;
  trace.processes.push_back({.native_id = 5});
  trace.tracks.push_back({.name = trace.strings.intern("main"), .native_id = 5, .event_count = 1});
  trace.events.start = {start};
  trace.events.duration = {300};
  trace.events.name = {trace.strings.intern("x")};
  trace.events.kind = {Kind::kOther};
  trace.events.track = {0};
  trace.events.parent = trace.events.cause = {kNoEvent};
  return trace;
}

// What the messages mean is tested with Perfetto's own definitions, in tests/round_trips.
TEST(PerfettoWrite, times_before_zero_are_moved_to_zero) {
  EXPECT_EQ(written(one_event(-1000)), written(one_event(0)));
  EXPECT_NE(written(one_event(1000)), written(one_event(0)));
}

TEST(PerfettoWrite, an_event_takes_few_bytes_once_its_names_are_known) {
  Trace trace = one_event(0);
  const std::size_t one = written(trace).size();
  constexpr EventId kMore = 100;
  trace.tracks[0].event_count += kMore;
  for (EventId i = 1; i <= kMore; ++i) {
    trace.events.start.push_back(1000 * i);
    for (auto* column : {&trace.events.parent, &trace.events.cause}) column->push_back(kNoEvent);
    trace.events.duration.push_back(300);
    trace.events.name.push_back(trace.events.name[0]);
    trace.events.kind.push_back(Kind::kOther);
    trace.events.track.push_back(0);
  }
  EXPECT_LT((written(trace).size() - one) / kMore, 48u);  // two packets
}

}  // namespace
}  // namespace telltale::perfetto
