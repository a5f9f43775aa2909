#include "formats/kineto/write.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "formats/output/testing/written.h"

namespace telltale::kineto {
namespace {

using nlohmann::json;

Written written(const Trace& trace) { return written_by(write, trace); }

// The events of one phase.
std::vector<json> events_of(const Written& file, const std::string& phase) {
  std::vector<json> found;
  const json document = json::parse(file.text);
  for (const json& event : document["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

// One process with one thread.
Trace trace_with_thread() {
  Trace trace;
  trace.processes.push_back({.native_id = 399});
  Track track;
  track.native_id = 7;
  track.name = trace.strings.intern("main");
  trace.tracks.push_back(track);
  return trace;
}

EventId add_event(Trace& trace, Kind kind, std::string_view name, Nanoseconds start, Nanoseconds duration,
                  TrackId track = 0) {
  return append_event(trace, track, kind, name, start, duration);
}

TrackId add_stream(Trace& trace) {
  Track stream;
  stream.kind = TrackKind::kStream;
  stream.device = 0;
  stream.native_id = 20;
  stream.name = trace.strings.intern("stream 20");
  trace.tracks.push_back(stream);
  return static_cast<TrackId>(trace.tracks.size() - 1);
}

TEST(KinetoWrite, a_trace_of_nothing_is_an_empty_list) {
  const Written nothing = written(Trace());
  EXPECT_EQ(nothing.text, "{\n\"traceEvents\": [\n]\n}\n");
  EXPECT_TRUE(nothing.left_out.empty());
}

TEST(KinetoWrite, an_event_is_a_line_with_exact_times) {
  Trace trace = trace_with_thread();
  add_event(trace, Kind::kOperator, "aten::mm", 1'234'567, 89);
  EXPECT_EQ(written(trace).text,
            "{\n\"traceEvents\": [\n"
            R"({"ph":"M","name":"thread_name","pid":399,"tid":7,"args":{"name":"main"}})"
            ",\n"
            R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":399,"tid":7,"ts":1234.567,"dur":0.089,)"
            R"("args":{"External id":1}})"
            "\n]\n}\n");
}

TEST(KinetoWrite, the_window_is_marked_at_the_end_when_asked_for) {
  Trace trace = trace_with_thread();
  trace.origin_epoch_ns = 1'700'000'000'000'001'234;
  add_event(trace, Kind::kOther, "x", 500, 1'500);
  trace.duration = 2'000;
  const Written file = written_by(write_with_window, trace);
  const json events = json::parse(file.text)["traceEvents"];
  ASSERT_GE(events.size(), 4u);
  const auto last = [&](std::size_t behind) { return events[events.size() - behind]; };
  EXPECT_EQ(last(4)["name"], "PyTorch Profiler (0)");
  EXPECT_EQ(last(4)["ts"], 0.234);
  EXPECT_EQ(last(4)["dur"], 2);
  EXPECT_EQ(last(3)["args"]["sort_index"], 536870912);
  EXPECT_EQ(last(2)["name"], "Iteration Start: PyTorch Profiler");
  EXPECT_EQ(last(2)["ts"], 0.234);
  EXPECT_EQ(last(1)["name"], "Record Window End");
  EXPECT_EQ(last(1)["ts"], 3.234);
}

TEST(KinetoWrite, times_are_relative_to_a_base_of_whole_microseconds) {
  Trace trace = trace_with_thread();
  trace.origin_epoch_ns = 1'700'000'000'000'001'234;
  add_event(trace, Kind::kOther, "x", 0, 1);
  const Written file = written(trace);
  EXPECT_EQ(json::parse(file.text)["baseTimeNanoseconds"], 1'700'000'000'000'001'000);
  EXPECT_NE(file.text.find(R"("ts":0.234)"), std::string::npos) << file.text;
}

TEST(KinetoWrite, names_need_not_be_text) {
  Trace trace = trace_with_thread();
  add_event(trace, Kind::kOther, "a\"b\\c\n\x01\xff", 0, 1);
  const Written file = written(trace);
  EXPECT_NE(file.text.find(R"("name":"a\"b\\c\n\u0001)"
                           "\uFFFD\""),
            std::string::npos)
      << file.text;
  EXPECT_EQ(events_of(file, "X").size(), 1u);
}

TEST(KinetoWrite, a_launch_and_its_work_share_a_number_and_an_arrow) {
  Trace trace = trace_with_thread();
  const TrackId stream = add_stream(trace);
  const EventId launch = add_event(trace, Kind::kRuntime, "cudaGraphLaunch", 1000, 10);
  for (const Nanoseconds start : {5000, 6000})
    trace.events.cause[add_event(trace, Kind::kKernel, "k", start, 100, stream)] = launch;
  const Written file = written(trace);
  const auto spans = events_of(file, "X"), starts = events_of(file, "s"), ends = events_of(file, "f");
  ASSERT_EQ(spans.size(), 3u);
  for (const json& span : spans) EXPECT_EQ(span["args"]["correlation"], 1);
  EXPECT_EQ(spans[1]["args"]["stream"], 20);
  EXPECT_EQ(spans[1]["args"]["device"], 0);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0]["cat"], "ac2g");
  EXPECT_EQ(starts[0]["ts"], 1.0);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0]["id"], starts[0]["id"]);
  EXPECT_EQ(ends[1]["ts"], 6.0);
  EXPECT_EQ(ends[1]["bp"], "e");
}

TEST(KinetoWrite, of_two_nested_backward_operators_the_arrow_points_to_the_inner_one) {
  Trace trace = trace_with_thread();
  Track autograd = trace.tracks[0];
  autograd.native_id = 8;
  trace.tracks.push_back(autograd);
  const EventId forward = add_event(trace, Kind::kOperator, "aten::mm", 0, 10'000);
  const EventId engine = add_event(trace, Kind::kOperator, "evaluate_function: MmBackward0", 20'000, 10'000, 1);
  const EventId node = add_event(trace, Kind::kOperator, "MmBackward0", 21'000, 8'000, 1);
  trace.operators.append(forward, {.sequence = 5});
  for (const EventId backward : {engine, node}) {
    trace.operators.append(backward, {.forward_thread = 1, .sequence = 5});
    trace.events.cause[backward] = forward;
  }
  trace.events.parent[node] = engine;
  const Written file = written(trace);
  ASSERT_EQ(events_of(file, "s").size(), 1u);
  EXPECT_EQ(events_of(file, "s")[0]["cat"], "fwdbwd");
  EXPECT_EQ(events_of(file, "s")[0]["ts"], 0.0);
  ASSERT_EQ(events_of(file, "f").size(), 1u);
  EXPECT_EQ(events_of(file, "f")[0]["ts"], 21.0);
  EXPECT_EQ(events_of(file, "f")[0]["tid"], 8);
  EXPECT_TRUE(file.left_out.empty());
}

TEST(KinetoWrite, text_that_should_be_json_and_is_none_is_counted) {
  Trace trace = trace_with_thread();
  const EventId event = add_event(trace, Kind::kOperator, "aten::mm", 0, 10);
  trace.operator_inputs.push_back({.shapes = trace.strings.intern("[[1,2"), .types = trace.strings.intern("[\"a\"]")});
  trace.operators.append(event, {.inputs = 0});
  trace.other_arguments.append(event, trace.strings.intern("}"));
  trace.metadata = {{"good", "[1, 2]"}, {"bad", "{"}, {"traceEvents", "[]"}};
  const Written file = written(trace);
  const json document = json::parse(file.text);
  EXPECT_EQ(document["good"], json::parse("[1,2]"));
  EXPECT_FALSE(document.contains("bad"));
  EXPECT_EQ(events_of(file, "X")[0]["args"], json::parse(R"({"External id": 1, "Input type": ["a"]})"));
  ASSERT_EQ(file.left_out.entries().size(), 2u);
  EXPECT_EQ(file.left_out.entries()[0].count, 2u);
  EXPECT_EQ(file.left_out.entries()[0].many, "values about the recording");
  EXPECT_EQ(file.left_out.entries()[1].count, 2u);
  EXPECT_EQ(file.left_out.entries()[1].many, "arguments");
}

TEST(KinetoWrite, counters_of_one_name_and_the_same_times_stand_together) {
  Trace trace = trace_with_thread();
  trace.tracks[0].kind = TrackKind::kCounter;
  const StringId name = trace.strings.intern("memory");
  trace.counters.time = {0, 1000, 0, 1000, 500};
  trace.counters.value = {1, 2.5, 3, std::numeric_limits<double>::quiet_NaN(), 7};
  trace.counters.series = {{name, trace.strings.intern("used"), 0, 0, 2},
                           {name, trace.strings.intern("free"), 0, 2, 2},
                           {name, trace.strings.intern("peak"), 0, 4, 1}};
  const Written file = written(trace);
  const auto values = events_of(file, "C");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0]["args"], json::parse(R"({"used": 1, "free": 3})"));
  EXPECT_EQ(values[1]["args"], json::parse(R"({"used": 2.5})"));
  EXPECT_EQ(values[2]["args"], json::parse(R"({"peak": 7})"));
  ASSERT_EQ(file.left_out.entries().size(), 1u);
  EXPECT_EQ(file.left_out.entries()[0].count, 1u);
}

TEST(KinetoWrite, causes_that_kineto_cannot_name_are_counted) {
  Trace trace = trace_with_thread();
  const EventId first = add_event(trace, Kind::kPython, "a.py(1): f", 0, 10);
  trace.events.cause[add_event(trace, Kind::kPython, "a.py(2): g", 20, 10)] = first;
  const Written file = written(trace);
  ASSERT_EQ(file.left_out.entries().size(), 1u);
  EXPECT_EQ(file.left_out.entries()[0].many, "links to a cause");
}

TEST(KinetoWrite, tracks_that_share_pid_and_tid_cannot_both_have_a_name) {
  Trace trace = trace_with_thread();
  const TrackId stream = add_stream(trace);
  trace.tracks[stream].native_id = 7;
  trace.tracks[stream].name = trace.strings.intern("copies");
  add_event(trace, Kind::kOther, "x", 0, 1);
  add_event(trace, Kind::kKernel, "k", 0, 1, stream);
  const Written file = written(trace);
  ASSERT_EQ(file.left_out.entries().size(), 1u);
  EXPECT_EQ(file.left_out.entries()[0].count, 1u);
}

}  // namespace
}  // namespace telltale::kineto
