#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "formats/tell/testing/read_bytes.h"
#include "formats/tell/testing/tell_sketch.h"

namespace telltale::tell {
namespace {

using testing::example_of;
using testing::float_bytes;
using testing::read_bytes;
using testing::RecordsSketch;
using testing::rows;
using testing::shape;
using testing::simple_recording;
using testing::TellSketch;
using testing::zigzagged;

Trace trace_of(const TellSketch& sketch) {
  auto trace = read_bytes(sketch.bytes());
  EXPECT_TRUE(trace) << (trace ? "" : to_string(trace.error()));
  return trace ? std::move(*trace) : Trace();
}

using Lines = std::vector<std::string>;

TEST(Recording, has_its_scopes_on_its_threads) {
  TellSketch sketch = simple_recording();
  const auto serve = sketch.site("serve", {"", "src/server.cpp", "serve", 42, 1, {}});
  const auto parse = sketch.site("parse");
  sketch.thread(1, 4001, "main").thread(2, 4002, "");
  sketch.records(RecordsSketch(1).span(parse, 1100, 50).span(serve, 1000, 500));
  sketch.records(RecordsSketch(2).span(parse, 1200, 25));
  sketch.end(2000).trailer();
  const Trace trace = trace_of(sketch);
  EXPECT_EQ(rows(trace), (Lines{"annotation serve 0+500 on main", "annotation parse 100+50 on main",
                                "annotation parse 200+25 on thread 4002"}));
  EXPECT_EQ(trace.events.parent, (std::vector<EventId>{kNoEvent, 0, kNoEvent}));
  EXPECT_EQ(trace.format, "tell");
  EXPECT_EQ(trace.origin_epoch_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(trace.duration, 500);
  EXPECT_EQ(trace.text_bytes, sketch.bytes().size());
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.strings[trace.processes[0].name], "server");
  EXPECT_EQ(trace.processes[0].native_id, 42);
  EXPECT_EQ(trace.tracks[0].native_id, 4001);
  EXPECT_EQ(trace.anomalies.total(), 0u);
  // Only one of the sites says where it stands.
  ASSERT_EQ(trace.sources.size(), 1u);
  EXPECT_EQ(trace.sources.event(0), 0u);
  const SourceLocation& place = trace.source_locations[trace.sources.row(0)];
  EXPECT_EQ(trace.strings[place.file], "src/server.cpp");
  EXPECT_EQ(trace.strings[place.function], "serve");
  EXPECT_EQ(place.line, 42);
  EXPECT_EQ(trace.metadata, (decltype(trace.metadata){{"version", "\"0.1.0\""}}));
}

TEST(Recording, gives_each_kind_of_site_its_kind_of_event) {
  TellSketch sketch = simple_recording();
  RecordsSketch records(1);
  sketch.thread(1, 1, "main").track(2, 1, 7, "stream 7", 0, 1);
  for (int kind = 0; kind < 17; ++kind)
    records.span_on(kind >= 8 && kind != 13 && kind != 14 && kind != 16 ? 2 : 1,
                    sketch.site("k" + std::to_string(kind), {"", "", "", 0, kind, {}}),
                    1000 + 10 * static_cast<std::uint64_t>(kind), 5);
  const Trace trace = trace_of(sketch.records(records).end(2000));
  Lines expected;
  for (const auto* row : {"annotation k0 0+5", "annotation k1 10+5", "annotation k2 20+5", "operator k3 30+5",
                          "python k4 40+5", "module k5 50+5", "runtime k6 60+5", "driver k7 70+5", "overhead k13 130+5",
                          "other k14 140+5", "other k16 160+5"})
    expected.push_back(std::string(row) + " on main");
  for (const auto* row : {"kernel k8 80+5", "memcpy k9 90+5", "memset k10 100+5", "sync k11 110+5",
                          "collective k12 120+5", "device_annotation k15 150+5"})
    expected.push_back(std::string(row) + " on stream 7");
  EXPECT_EQ(rows(trace), expected);
  EXPECT_EQ(trace.categories.size(), 0u);
}

// Everything behind the reader takes it for granted that device work stands on streams, and nothing else does.
TEST(Recording, keeps_host_and_device_apart_whatever_the_program_says) {
  TellSketch sketch = simple_recording();
  const auto kernel = sketch.site("gemm", {"", "", "", 0, 8, {}});
  const auto op = sketch.site("aten::mm", {"", "", "", 0, 3, {}});
  const auto scope = sketch.site("phase");
  sketch.thread(1, 1, "main").track(2, 1, 7, "stream 7", 0);
  sketch.records(RecordsSketch(1).span(kernel, 1000, 5).span_on(2, op, 1010, 5).span_on(2, scope, 1020, 5));
  const Trace trace = trace_of(sketch.end(2000));
  EXPECT_EQ(rows(trace), (Lines{"other gemm 0+5 on main", "device aten::mm 10+5 on stream 7",
                                "device_annotation phase 20+5 on stream 7"}));
  ASSERT_EQ(trace.categories.size(), 2u);
  EXPECT_EQ(trace.strings[trace.categories.row(0)], "kernel");
  EXPECT_EQ(trace.strings[trace.categories.row(1)], "operator");
}

TEST(Recording, keeps_categories_that_are_the_users_own) {
  TellSketch sketch = simple_recording();
  const auto io = sketch.site("read", {"disk", "", "", 0, 0, {}});
  const auto op = sketch.site("aten::mm", {"cpu_op", "", "", 0, 3, {}});
  sketch.thread(1, 1, "main").records(RecordsSketch(1).span(io, 1000, 5).span(op, 1010, 5));
  const Trace trace = trace_of(sketch.end(2000));
  ASSERT_EQ(trace.categories.size(), 1u);
  EXPECT_EQ(trace.strings[trace.categories.row(0)], "disk");
}

TEST(Recording, has_marks_steps_counters_and_memory) {
  TellSketch sketch = simple_recording();
  const auto mark = sketch.site("request");
  const auto depth = sketch.site("queue depth");
  const auto pool = sketch.string("arena");
  sketch.thread(1, 1, "main");
  sketch.records(RecordsSketch(1)
                     .step(3, 1000, 400)
                     .instant(mark, 1050)
                     .counter(depth, 1060, 2.5)
                     .counter(depth, 1040, 1)
                     .counter(depth, 1070, std::numeric_limits<double>::quiet_NaN())
                     .allocation(pool, 1100, 0x7f0000000000, 4096, -1)
                     .allocation_with_totals(0, 1120, 0x7e0000000000, -512, 0, 1000, 2000));
  const Trace trace = trace_of(sketch.end(2000));
  EXPECT_EQ(rows(trace), (Lines{"annotation ProfilerStep#3 0+400 on main", "instant request 50+0 on main"}));
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].index, 3);
  EXPECT_EQ(trace.counters.time, (std::vector<Nanoseconds>{40, 60}));
  EXPECT_EQ(trace.counters.value, (std::vector<double>{1, 2.5}));
  ASSERT_EQ(trace.counters.series.size(), 1u);
  EXPECT_EQ(trace.strings[trace.counters.series[0].name], "queue depth");
  EXPECT_EQ(trace.strings[trace.counters.series[0].series], "value");
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnusableCounter), 1u);
  EXPECT_EQ(trace.memory.time, (std::vector<Nanoseconds>{100, 120}));
  EXPECT_EQ(trace.memory.address, (std::vector<std::uint64_t>{0x7f0000000000, 0x7e0000000000}));
  EXPECT_EQ(trace.memory.bytes, (std::vector<std::int64_t>{4096, -512}));
  EXPECT_EQ(trace.memory.device, (std::vector<DeviceId>{kHost, 0}));
  EXPECT_EQ(trace.memory.total_allocated, (std::vector<std::int64_t>{-1, 1000}));
  EXPECT_EQ(trace.memory.total_reserved, (std::vector<std::int64_t>{-1, 2000}));
  EXPECT_EQ(trace.memory.event, (std::vector<EventId>{0, 0}));
  ASSERT_EQ(trace.memory.pool.size(), 2u);
  EXPECT_EQ(trace.strings[trace.memory.pool[0]], "arena");
  EXPECT_EQ(trace.memory.pool[1], kEmptyString);
}

TEST(Recording, joins_what_flows_from_thread_to_thread) {
  TellSketch sketch = simple_recording();
  const auto enqueue = sketch.site("enqueue"), work = sketch.site("work"), request = sketch.site("request");
  sketch.thread(1, 1, "main").thread(2, 2, "worker");
  sketch.records(RecordsSketch(2).flow(request, 1210, 77, 2).span(work, 1200, 50));
  sketch.records(RecordsSketch(1).flow(request, 1010, 77, 0).flow(request, 1015, 78, 0).span(enqueue, 1000, 50));
  const Trace trace = trace_of(sketch.end(2000));
  ASSERT_EQ(trace.flows.size(), 1u);
  EXPECT_EQ(trace.name(trace.flows[0].from), "enqueue");
  EXPECT_EQ(trace.name(trace.flows[0].to), "work");
  EXPECT_EQ(trace.strings[trace.flows[0].name], "request");
  EXPECT_EQ(trace.anomalies.count(Anomaly::kFlowWithoutEnd), 1u);
}

TEST(Recording, pairs_async_spans_by_name_and_id_over_all_threads) {
  TellSketch sketch = simple_recording();
  const auto begin = sketch.site("download", {"net", "", "", 0, 0, {{"url", 2}}});
  const auto end = sketch.site("download", {"net", "", "", 0, 0, {}});
  sketch.thread(1, 1, "main").thread(2, 2, "worker");
  sketch.records(RecordsSketch(2).async_end(end, 1300, 5).async_end(end, 1400, 99));
  sketch.records(RecordsSketch(1)
                     .async_begin(begin, 1000, 5, testing::text("a"))
                     .async_begin(begin, 1300, 5, testing::text("b"))
                     .async_begin(begin, 1010, 6, testing::text("c"))
                     .async_end(end, 1310, 6));
  const Trace trace = trace_of(sketch.end(2000));
  // The second download 5 began when the first ended, and never ended itself.
  EXPECT_EQ(rows(trace),
            (Lines{"async download 0+300 on net", "async download 10+300 on net", "instant download 300+0 on net"}));
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnmatchedAsync), 1u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnmatchedEnd), 1u);
  ASSERT_EQ(trace.other_arguments.size(), 3u);
  EXPECT_EQ(trace.strings[trace.other_arguments.row(0)], R"({"url":"a"})");
}

TEST(Recording, pairs_begins_and_ends_on_other_tracks_like_brackets) {
  TellSketch sketch = simple_recording();
  const auto outer = sketch.site("outer"), inner = sketch.site("inner"), last = sketch.site("last");
  sketch.thread(1, 1, "main").track(9, 2, 0, "network");
  sketch.records(RecordsSketch(1).begin_on(9, outer, 1000).begin_on(9, inner, 1010).end_on(9, 1020));
  sketch.records(
      RecordsSketch(1, 3).end_on(9, 1100).end_on(9, 1110).begin_on(9, last, 1090).span_on(9, inner, 1200, 7));
  const Trace trace = trace_of(sketch.end(2000));
  EXPECT_EQ(rows(trace), (Lines{"annotation outer 0+110 on network", "annotation inner 10+10 on network",
                                "annotation last 90+10 on network", "annotation inner 200+7 on network"}));
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST(Recording, ties_device_work_to_its_launch) {
  TellSketch sketch = simple_recording();
  const auto launch = sketch.site("cudaLaunchKernel", {"", "", "", 0, 6, {{"correlation", 0}}});
  const auto kernel = sketch.site(
      "gemm", {"", "", "", 0, 8, {{"grid", 3}, {"block", 3}, {"registers per thread", 0}, {"shared memory", 0}}});
  const auto copy = sketch.site("Memcpy HtoD (Pageable -> Device)", {"", "", "", 0, 9, {{"bytes", 0}, {"rate", 1}}});
  sketch.thread(1, 1, "main").track(2, 1, 7, "stream 7", 3, 1);
  sketch.records(
      RecordsSketch(1)
          .span(launch, 1000, 10, zigzagged(501))
          .span(launch, 1020, 10, zigzagged(502))
          .span_on(2, kernel, 1100, 50, 501, shape({4, 8, 1}) + shape({256, 1, 1}) + zigzagged(32) + zigzagged(0))
          .span_on(2, copy, 1200, 30, 502, zigzagged(4096) + float_bytes(0.5)));
  const Trace trace = trace_of(sketch.end(2000));
  ASSERT_EQ(trace.events.size(), 4u);
  EXPECT_EQ(trace.events.cause, (std::vector<EventId>{kNoEvent, kNoEvent, 0, 1}));
  EXPECT_EQ(trace.tracks[1].kind, TrackKind::kStream);
  EXPECT_EQ(trace.tracks[1].device, 3);
  EXPECT_EQ(trace.tracks[1].native_id, 7);
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.devices[0].id, 3);
  ASSERT_EQ(trace.kernels.size(), 1u);
  const KernelLaunch& shape_of_launch = trace.kernel_launches[trace.kernels.row(0).launch];
  EXPECT_EQ(shape_of_launch.grid, (std::array<std::int32_t, 3>{4, 8, 1}));
  EXPECT_EQ(shape_of_launch.block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(shape_of_launch.registers_per_thread, 32);
  ASSERT_EQ(trace.copies.size(), 1u);
  EXPECT_EQ(trace.copies.row(0).bytes, 4096);
  EXPECT_EQ(trace.copies.row(0).from, MemorySpace::kPageable);
  ASSERT_EQ(trace.other_arguments.size(), 1u);
  EXPECT_EQ(trace.strings[trace.other_arguments.row(0)], R"({"rate":0.5})");
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST(Recording, puts_operators_arguments_where_the_kineto_reader_does) {
  TellSketch sketch = simple_recording();
  const auto op = sketch.site("aten::mm", {"",
                                           "",
                                           "",
                                           0,
                                           3,
                                           {{"Input Dims", 2},
                                            {"Input type", 2},
                                            {"Sequence number", 0},
                                            {"Call stack", 2},
                                            {"Concrete Inputs", 2},
                                            {"flops", 0}}});
  const auto one =
      sketch.site("relu", {"", "", "", 0, 3, {{"Input Dims", 3}, {"Sequence number", 0}, {"Fwd thread id", 0}}});
  sketch.thread(1, 1, "main");
  using testing::text;
  sketch.records(RecordsSketch(1)
                     .span(op, 1000, 10,
                           text("[[2, 3], [3, 4]]") + text(R"(["float","float"])") + zigzagged(7) +
                               text("model.py(3): forward;a.py(1): b") + text("[\"\", \"\"]") + zigzagged(48))
                     .span(one, 1020, 10, shape({2, 4}) + zigzagged(7) + zigzagged(1)));
  const Trace trace = trace_of(sketch.end(2000));
  ASSERT_EQ(trace.operators.size(), 2u);
  const OperatorInputs& inputs = trace.operator_inputs[trace.operators.row(0).inputs];
  EXPECT_EQ(trace.strings[inputs.shapes], "[[2,3],[3,4]]");
  EXPECT_EQ(trace.strings[inputs.types], R"(["float","float"])");
  EXPECT_EQ(trace.strings[inputs.concrete], R"(["",""])");
  EXPECT_EQ(trace.operators.row(0).sequence, 7);
  EXPECT_EQ(trace.strings[trace.operator_inputs[trace.operators.row(1).inputs].shapes], "[[2,4]]");
  EXPECT_EQ(trace.events.cause[1], 0u);  // backward of the first
  ASSERT_EQ(trace.operator_stacks.size(), 1u);
  EXPECT_EQ(trace.strings[trace.operator_stacks.row(0).call_stack], "model.py(3): forward;a.py(1): b");
  EXPECT_EQ(trace.strings[trace.other_arguments.row(0)], R"({"flops":48})");
  EXPECT_TRUE(trace.recorded.shapes);
  EXPECT_TRUE(trace.recorded.stacks);
}

TEST(Recording, keeps_the_users_values_even_under_names_that_kineto_uses) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site("batch", {"",
                                          "",
                                          "",
                                          0,
                                          0,
                                          {{"bytes", 0},
                                           {"device", 2},
                                           {"shape", 3},
                                           {"load", 1},
                                           {"correlation", 0},
                                           {"grid", 3},
                                           {"bytes", 0},
                                           {"say \"it\"", 2}}});
  sketch.thread(1, 1, "main");
  sketch.records(RecordsSketch(1).span(site, 1000, 10,
                                       zigzagged(-5) + testing::text("cuda:0") + shape({}) +
                                           float_bytes(-std::numeric_limits<double>::infinity()) + zigzagged(9) +
                                           shape({1, 2}) + zigzagged(6) + testing::text("tab\there \"q\" \\ \xff")));
  const Trace trace = trace_of(sketch.end(2000));
  ASSERT_EQ(trace.other_arguments.size(), 1u);
  EXPECT_EQ(trace.strings[trace.other_arguments.row(0)],
            R"({"bytes":-5,"device":"cuda:0","shape":[],"load":"-Infinity","correlation":9,"grid":[1,2],"bytes":6,)"
            R"("say \"it\"":"tab\there \"q\" \\ )"
            "\xEF\xBF\xBD\"}");
}

TEST(Recording, converts_ticks_and_wall_clock_times) {
  TellSketch sketch;
  sketch.session({{"pid", "1"}, {"clock", "tsc"}});
  const auto site = sketch.site("work");
  constexpr std::uint64_t kReal = 1'700'000'000'000'000'000;
  // Three ticks a nanosecond; CLOCK_MONOTONIC shows 5000 when the ticks are 30000.
  sketch.calibrations({{30'000, 5'000, kReal}});
  sketch.thread(1, 1, "main").track(2, 2, 0, "ns", -1, 1).track(3, 2, 0, "wall", -1, 2);
  sketch.records(
      RecordsSketch(1).span(site, 30'300, 3000).span_on(2, site, 5'200, 10).span_on(3, site, kReal + 300, 10));
  sketch.calibrations({{30'000 + 6'000'000'000, 5'000 + 2'000'000'000, kReal + 2'000'000'000}});
  const Trace trace = trace_of(sketch.end(40'000));
  EXPECT_EQ(rows(trace), (Lines{"annotation work 0+1000 on main", "annotation work 100+10 on ns",
                                "annotation work 200+10 on wall"}));
  EXPECT_EQ(trace.origin_epoch_ns, static_cast<std::int64_t>(kReal + 100));
}

TEST(Recording, takes_the_rate_of_its_session_when_it_was_killed_before_the_second_calibration) {
  TellSketch sketch;
  sketch.session({{"clock", "tsc"}, {"ticks_per_second", "2000000000"}});
  const auto site = sketch.site("work");
  sketch.calibrations({{1000, 7000, 0}}).thread(1, 1, "main").records(RecordsSketch(1).span(site, 1000, 500));
  EXPECT_EQ(rows(trace_of(sketch)), (Lines{"annotation work 0+250 on main"}));
}

TEST(Recording, tells_what_the_recorder_dropped_and_why) {
  TellSketch sketch = simple_recording();
  sketch.losses({{0, 5}}).losses({{0, 700}, {1, 100}, {2, 3}, {4, 1'000'000}}).end(2000);
  const Trace trace = trace_of(sketch);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kDroppedEvents), 803u);
  EXPECT_EQ(example_of(trace, Anomaly::kDroppedEvents), "800 for want of memory, 3 in signal handlers");
}

TEST(Recording, without_an_end_says_how_far_it_reaches_and_what_may_be_lost) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site("work");
  sketch.thread(1, 1, "a").thread(2, 2, "b").thread(3, 3, "idle");
  sketch.records(RecordsSketch(1).span(site, 1'000'000, 1'500'000'000))
      .records(RecordsSketch(2).span(site, 2'000'000, 5));
  const Trace trace = trace_of(sketch);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 1u);
  EXPECT_EQ(example_of(trace, Anomaly::kUnfinishedRecording),
            "It reaches 1.50 s; at most the next 25.0 ms of each of 2 threads are lost");
  EXPECT_EQ(trace.anomalies.total(), 1u);
}

TEST(Recording, of_a_gpu_without_an_end_also_says_what_of_the_gpu_may_be_lost) {
  TellSketch sketch = simple_recording();
  sketch.session({{"meta:cuda_read_ns", "200000000"}});
  sketch.thread(1, 1, "a").records(RecordsSketch(1).span(sketch.site("work"), 1'000'000, 1'500'000'000));
  EXPECT_EQ(example_of(trace_of(sketch), Anomaly::kUnfinishedRecording),
            "It reaches 1.50 s; at most the next 25.0 ms are lost, and 200 ms of the GPU");
}

TEST(Recording, without_an_end_says_how_its_process_ended_where_that_was_seen) {
  const auto example_when = [](std::string_view ended_by) {
    TellSketch sketch = simple_recording();
    sketch.session({{"ended_by", std::string(ended_by)}});
    sketch.thread(1, 1, "a").records(RecordsSketch(1).span(sketch.site("work"), 1'000'000, 1'500'000'000));
    return example_of(trace_of(sketch), Anomaly::kUnfinishedRecording);
  };
  EXPECT_EQ(example_when("signal 9 (Killed)"), "It was ended by signal 9 (Killed); it reaches 1.50 s");
  EXPECT_EQ(example_when("exit code 0"), "Its process ended with exit code 0; it reaches 1.50 s");
}

TEST(Recording, counts_how_far_it_reaches_from_its_first_event_even_without_a_wall_clock) {
  TellSketch sketch;
  sketch.session({{"clock", "monotonic"}, {"flush_ns", "100000000"}});
  const auto site = sketch.site("work");
  sketch.thread(1, 1, "main").records(RecordsSketch(1).span(site, 7'000'000'000, 5).counter(site, 6'000'000'000, 1));
  sketch.open_scopes(1, 8'500'000'000, {});
  EXPECT_EQ(example_of(trace_of(sketch), Anomaly::kUnfinishedRecording),
            "It reaches 2.50 s; at most the next 100 ms of its thread are lost");
}

TEST(Recording, draws_scopes_that_nothing_ended_to_its_end) {
  TellSketch sketch = simple_recording();
  const auto run = sketch.site("run", {"", "main.cpp", "main", 9, 0, {}}), loop = sketch.site("loop"),
             turn = sketch.site("turn");
  sketch.thread(1, 1, "main").thread(2, 2, "worker");
  sketch.records(RecordsSketch(1).span(turn, 1100, 50));
  sketch.open_scopes(1, 1160, {{run, 1000}, {loop, 1050}, {turn, 1155}}).open_scopes(2, 1200, {{run, 1190}});
  sketch.records(RecordsSketch(1, 1).span(turn, 1155, 20).span(loop, 1050, 200));
  sketch.open_scopes(2, 1300, {});
  // A later chunk of the first thread broke off: the end of `run` is not known.
  const Trace trace = trace_of(sketch.calibrations({{1500, 1500, 1'700'000'000'000'000'500}}));
  EXPECT_EQ(rows(trace), (Lines{"annotation run 0+500 on main", "annotation loop 50+200 on main",
                                "annotation turn 100+50 on main", "annotation turn 155+20 on main"}));
  EXPECT_EQ(trace.anomalies.count(Anomaly::kOpenScope), 1u);
  EXPECT_EQ(example_of(trace, Anomaly::kOpenScope), "run");
  EXPECT_EQ(trace.sources.size(), 1u);
}

TEST(Recording, keeps_threads_apart_that_had_the_same_id) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site("work");
  sketch.thread(1, 77, "first").thread(2, 77, "second").track(3, 1, 77, "stream 77", 42);
  sketch.records(RecordsSketch(1).span(site, 1000, 5))
      .records(RecordsSketch(2).span(site, 1001, 5).span_on(3, site, 1001, 5));
  sketch.thread(1, 77, "renamed");
  const Trace trace = trace_of(sketch.end(2000));
  EXPECT_EQ(rows(trace), (Lines{"annotation work 0+5 on renamed", "annotation work 1+5 on second",
                                "device_annotation work 1+5 on stream 77"}));
  EXPECT_EQ(trace.tracks[0].native_id, 77);
  EXPECT_EQ(trace.tracks[1].native_id, 77);
}

TEST(Recording, has_the_sessions_pairs_as_metadata) {
  TellSketch sketch = simple_recording();
  sketch.session({{"meta:model", "resnet50"},
                  {"host", "box"},
                  {"meta:config", "{\"a\": [1, 2]}"},
                  {"version", "0.2.0"},
                  {"meta:deviceProperties", R"([{"id": 0, "name": "NVIDIA H200"}])"}});
  const Trace trace = trace_of(sketch.end(2000));
  EXPECT_EQ(
      trace.metadata,
      (decltype(trace.metadata){
          {"version", "\"0.2.0\""}, {"model", "\"resnet50\""}, {"host", "\"box\""}, {"config", "{\"a\":[1,2]}"}}));
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
}

}  // namespace
}  // namespace telltale::tell
