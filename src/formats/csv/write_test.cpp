#include "formats/csv/write.h"

#include <gtest/gtest.h>

#include "formats/output/testing/written.h"

namespace telltale::csv {
namespace {

Written written(const Trace& trace) { return written_by(write, trace); }

constexpr std::string_view kHeader =
    "id,start_ns,duration_ns,name,kind,category,process,pid,track,tid,device,parent,cause,step,args\r\n";

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
  const EventId step = append_event(trace, 0, Kind::kAnnotation, "ProfilerStep#3", 0, 1000);
  const EventId op = append_event(trace, 0, Kind::kOperator, "say \"hi\"", 100, 50, step);
  const EventId launch = append_event(trace, 0, Kind::kRuntime, "cudaLaunchKernel", 110, 10, op);
  append_event(trace, 0, Kind::kOther, "loose", 2000, 1);
  const EventId kernel = append_event(trace, 1, Kind::kKernel, "k", 1500, 70, kNoEvent, launch);
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
