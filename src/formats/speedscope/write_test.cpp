#include "formats/speedscope/write.h"

#include <gtest/gtest.h>

#include "formats/output/testing/written.h"

namespace telltale::speedscope {
namespace {

Written written(const Trace& trace) { return written_by(write, trace); }

// Rows of one thread must come in the order of a trace.
Trace thread_with(const std::vector<std::tuple<std::string, Nanoseconds, Nanoseconds>>& spans) {
  Trace trace;
  trace.processes.emplace_back();
  Track track;
  track.name = trace.strings.intern("main");
  trace.tracks.push_back(track);
  for (const auto& [name, start, end] : spans) append_event(trace, 0, Kind::kOperator, name, start, end - start);
  return trace;
}

constexpr std::string_view kHead =
    "{\n\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"telltale\",\n";

TEST(SpeedscopeWrite, a_thread_is_a_profile_of_frames_that_open_and_close) {
  const Trace trace = thread_with({{"f", 0, 10}, {"g", 2, 5}, {"f", 10, 12}});
  EXPECT_EQ(written(trace).text, std::string(kHead) +
                                     R"("shared":{"frames":[
{"name":"f"},
{"name":"g"}
]},
"profiles":[
{"type":"evented","name":"main","unit":"nanoseconds","startValue":0,"endValue":12,"events":[
{"type":"O","frame":0,"at":0},
{"type":"O","frame":1,"at":2},
{"type":"C","frame":1,"at":5},
{"type":"C","frame":0,"at":10},
{"type":"O","frame":0,"at":10},
{"type":"C","frame":0,"at":12}
]}]
}
)");
}

TEST(SpeedscopeWrite, spans_that_overlap_in_part_have_a_profile_of_their_own) {
  const std::string text = written(thread_with({{"a", 0, 10}, {"b", 5, 15}})).text;
  EXPECT_NE(text.find(R"("name":"main","unit")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("name":"main, overlapping 1","unit")"), std::string::npos) << text;
  EXPECT_NE(text.find("\n{\"type\":\"O\",\"frame\":1,\"at\":5},\n{\"type\":\"C\",\"frame\":1,\"at\":15}\n"),
            std::string::npos)
      << text;
}

TEST(SpeedscopeWrite, frames_have_the_places_that_were_recorded) {
  Trace trace = thread_with({{"f", 0, 10}, {"f", 20, 30}});
  trace.source_locations = {{trace.strings.intern("a.cpp"), kEmptyString, 7},
                            {trace.strings.intern("b.cpp"), kEmptyString, 0}};
  trace.sources.append(0, 0);
  trace.sources.append(1, 1);
  const std::string text = written(trace).text;
  EXPECT_NE(text.find("[\n{\"name\":\"f\",\"file\":\"a.cpp\",\"line\":7},\n{\"name\":\"f\",\"file\":\"b.cpp\"}\n]"),
            std::string::npos)
      << text;
}

TEST(SpeedscopeWrite, marks_and_what_overlaps_too_much_are_counted) {
  std::vector<std::tuple<std::string, Nanoseconds, Nanoseconds>> spans;
  for (int i = 0; i < 300; ++i) spans.emplace_back("s", i, i + 1000);
  Trace trace = thread_with(spans);
  trace.events.kind[0] = Kind::kInstant;
  const Written file = written(trace);
  ASSERT_EQ(file.left_out.entries().size(), 2u);
  EXPECT_EQ(file.left_out.entries()[0].many, "marks");
  EXPECT_EQ(file.left_out.entries()[0].count, 1u);
  EXPECT_EQ(file.left_out.entries()[1].many, "events");
  EXPECT_EQ(file.left_out.entries()[1].count, 300u - 256u);  // lanes are numbered with eight bits
}

TEST(SpeedscopeWrite, a_trace_of_nothing_has_no_profiles) {
  EXPECT_EQ(written(Trace()).text, std::string(kHead) + "\"shared\":{\"frames\":[\n]},\n\"profiles\":[]\n}\n");
}

}  // namespace
}  // namespace telltale::speedscope
