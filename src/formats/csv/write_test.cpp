#include "formats/csv/write.h"

#include <gtest/gtest.h>

#include "formats/output/testing/sinks.h"

namespace telltale::csv {
namespace {

struct Written {
  std::string text;
  LeftOutList left_out;
};

Written written(const Trace& trace) {
  MemorySink sink;
  TextWriter out(sink);
  LeftOutList left_out = write(trace, out);
  EXPECT_TRUE(out.finish());
  return {std::move(sink.text), std::move(left_out)};
}

constexpr std::string_view kHeader =
    "id,start_ns,duration_ns,name,kind,category,process,pid,track,tid,device,parent,cause,step,args\r\n";

EventId add(Trace& trace, TrackId track, Kind kind, std::string_view name, Nanoseconds start, Nanoseconds duration,
            EventId parent = kNoEvent, EventId cause = kNoEvent) {
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

TEST(CsvWrite, an_event_is_a_line) {
  Trace trace;
  trace.processes = {{.name = trace.strings.intern("python3"), .native_id = 399}, {.native_id = 0}};
  Track thread, stream;
  thread.name = trace.strings.intern("main, first");
  thread.native_id = 7;
  stream.name = trace.strings.intern("stream 20");
  stream.kind = TrackKind::kStream;
  stream.process = 1;
  stream.native_id = 20;
  stream.device = 0;
  trace.tracks = {thread, stream};
  const EventId step = add(trace, 0, Kind::kAnnotation, "ProfilerStep#3", 0, 1000);
  const EventId op = add(trace, 0, Kind::kOperator, "say \"hi\"", 100, 50, step);
  const EventId launch = add(trace, 0, Kind::kRuntime, "cudaLaunchKernel", 110, 10, op);
  add(trace, 0, Kind::kOther, "loose", 2000, 1);
  const EventId kernel = add(trace, 1, Kind::kKernel, "k", 1500, 70, kNoEvent, launch);
  trace.steps = {{3, step, 0, 1000}};
  trace.operators.append(op, {.sequence = 9});
  trace.kernel_launches.push_back({.grid = {1, 2, 3}, .block = {4, 5, 6}});
  trace.kernels.append(kernel, {0});
  trace.categories.append(3, trace.strings.intern("queue"));
  EXPECT_EQ(written(trace).text, std::string(kHeader) +
                                     "0,0,1000,ProfilerStep#3,annotation,,python3,399,\"main, first\",7,,,,3,\r\n"
                                     "1,100,50,\"say \"\"hi\"\"\",operator,,python3,399,\"main, first\",7,,0,,3,"
                                     "\"{\"\"Sequence number\"\":9,\"\"Fwd thread id\"\":0}\"\r\n"
                                     "2,110,10,cudaLaunchKernel,runtime,,python3,399,\"main, first\",7,,1,,3,\r\n"
                                     "3,2000,1,loose,other,queue,python3,399,\"main, first\",7,,,,,\r\n"
                                     "4,1500,70,k,kernel,,,0,stream 20,20,0,,2,3,"
                                     "\"{\"\"grid\"\":[1,2,3],\"\"block\"\":[4,5,6]}\"\r\n");
}

TEST(CsvWrite, what_has_no_line_is_counted) {
  Trace trace;
  trace.memory.time = {1, 2};
  trace.metadata = {{"a", "1"}};
  const Written file = written(trace);
  EXPECT_EQ(file.text, kHeader);
  ASSERT_EQ(file.left_out.entries().size(), 2u);
  EXPECT_EQ(file.left_out.entries()[0].many, "memory events");
  EXPECT_EQ(file.left_out.entries()[0].count, 2u);
  EXPECT_EQ(file.left_out.entries()[1].many, "values about the recording");
}

}  // namespace
}  // namespace telltale::csv
