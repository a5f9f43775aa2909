// Everything that can be emitted, read back.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "kill_progress.h"
#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using namespace std::chrono_literals;

class ApiTest : public RecordingTest {
 protected:
  void start() {
    const telltale_options options = this->options();
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
  }
  Trace stop() {
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    return read_recording(path());
  }
  static std::string values_of(const Trace& trace, EventId event) {
    const StringId* text = trace.other_arguments.find(event);
    return text == nullptr ? "" : std::string(trace.strings[*text]);
  }
};

TEST_F(ApiTest, scopes_nest_and_take_the_time_they_took) {
  start();
  const std::int64_t begin = monotonic_ns();
  {
    TELLTALE_SCOPE("outer");
    std::this_thread::sleep_for(5ms);
    TELLTALE_SCOPE("inner");
    std::this_thread::sleep_for(10ms);
  }
  const std::int64_t took = monotonic_ns() - begin;
  const Trace trace = stop();
  const EventId outer = events_named(trace, "outer").at(0), inner = events_named(trace, "inner").at(0);
  EXPECT_EQ(trace.events.parent[inner], outer);
  EXPECT_EQ(trace.events.kind[outer], Kind::kAnnotation);
  EXPECT_GE(trace.events.duration[inner], 10'000'000);
  EXPECT_GE(trace.events.duration[outer], 15'000'000);
  EXPECT_LE(trace.events.duration[outer], took);
  EXPECT_GE(trace.events.start[inner] - trace.events.start[outer], 5'000'000);
}

TEST_F(ApiTest, times_are_those_of_the_wall_clock) {
  start();
  const std::int64_t before = std::chrono::system_clock::now().time_since_epoch() / 1ns;
  TELLTALE_INSTANT("now");
  const std::int64_t after = std::chrono::system_clock::now().time_since_epoch() / 1ns;
  const Trace trace = stop();
  const std::int64_t recorded = trace.origin_epoch_ns + trace.events.start[events_named(trace, "now").at(0)];
  constexpr std::int64_t kTolerance = 1'000'000;
  EXPECT_GE(recorded, before - kTolerance);
  EXPECT_LE(recorded, after + kTolerance);
}

TEST_F(ApiTest, values_keep_their_types_and_are_called_as_they_were_written) {
  start();
  const int batch = -8;
  const double loss = 0.25;
  const std::string model = "resnet \"50\"";
  const std::vector<std::int64_t> shape = {16, 3, 224};
  const bool is_training = true;
  {
    TELLTALE_SCOPE("forward", batch, loss, model, shape, is_training, std::max(batch, 2), std::string(3, 'x'));
  }
  const Trace trace = stop();
  EXPECT_EQ(values_of(trace, events_named(trace, "forward").at(0)),
            R"-({"batch":-8,"loss":0.25,"model":"resnet \"50\"","shape":[16,3,224],"is_training":1,)-"
            R"-("std::max(batch, 2)":2,"std::string(3, 'x')":"xxx"})-");
}

TEST_F(ApiTest, places_in_the_source_come_along) {
  start();
  const int line = __LINE__ + 2;
  {
    TELLTALE_FUNCTION();
  }
  const Trace trace = stop();
  const EventId event = events_named(trace, "TestBody").at(0);
  const std::uint32_t* source = trace.sources.find(event);
  ASSERT_NE(source, nullptr);
  const SourceLocation& place = trace.source_locations[*source];
  EXPECT_EQ(place.line, line);
  EXPECT_TRUE(trace.strings[place.file].ends_with("api_test.cpp"));
}

TEST_F(ApiTest, flows_join_scopes_of_different_threads) {
  start();
  std::thread([] {
    TELLTALE_SCOPE("sender");
    TELLTALE_FLOW_START("message", 17);
  }).join();
  std::thread([] {
    TELLTALE_SCOPE("receiver");
    TELLTALE_FLOW_END("message", 17);
  }).join();
  const Trace trace = stop();
  ASSERT_EQ(trace.flows.size(), 1u);
  EXPECT_EQ(trace.strings[trace.flows[0].name], "message");
  EXPECT_EQ(trace.name(trace.flows[0].from), "sender");
  EXPECT_EQ(trace.name(trace.flows[0].to), "receiver");
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST_F(ApiTest, async_spans_may_begin_and_end_on_different_threads) {
  start();
  const int tokens = 12;
  TELLTALE_ASYNC_BEGIN("request", 5, tokens);
  std::thread([] {
    std::this_thread::sleep_for(3ms);
    TELLTALE_ASYNC_END("request", 5);
  }).join();
  const Trace trace = stop();
  const EventId request = events_named(trace, "request").at(0);
  EXPECT_EQ(trace.events.kind[request], Kind::kAsync);
  EXPECT_GE(trace.events.duration[request], 3'000'000);
  EXPECT_EQ(values_of(trace, request), R"({"tokens":12})");
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST_F(ApiTest, counters_and_memory_keep_their_numbers) {
  start();
  for (const double depth : {1.0, 2.5, -3.0}) TELLTALE_COUNTER("queue", depth);
  const std::uint32_t pool = telltale_intern("activations");
  allocated(reinterpret_cast<const void*>(0x1000), 4096, 0, pool);
  const telltale_memory with_totals = {0x2000, 100, -1, 0, 100, 200};
  telltale_allocation(&with_totals);
  freed(reinterpret_cast<const void*>(0x1000), 4096, 0, pool);
  const Trace trace = stop();
  ASSERT_EQ(trace.counters.series.size(), 1u);
  EXPECT_EQ(trace.strings[trace.counters.series[0].name], "queue");
  EXPECT_EQ(trace.counters.value, (std::vector<double>{1.0, 2.5, -3.0}));
  const MemoryEvents& memory = trace.memory;
  EXPECT_EQ(memory.bytes, (std::vector<std::int64_t>{4096, 100, -4096}));
  EXPECT_EQ(memory.address, (std::vector<std::uint64_t>{0x1000, 0x2000, 0x1000}));
  EXPECT_EQ(memory.device, (std::vector<DeviceId>{0, kHost, 0}));
  EXPECT_EQ(memory.total_reserved, (std::vector<std::int64_t>{-1, 200, -1}));
  ASSERT_EQ(memory.pool.size(), 3u);
  EXPECT_EQ(trace.strings[memory.pool[0]], "activations");
  EXPECT_EQ(trace.strings[memory.pool[1]], "");
}

TEST_F(ApiTest, threads_have_the_names_they_gave_themselves) {
  start();
  std::thread([] {
    telltale_name_thread("worker 7");
    TELLTALE_SCOPE("work");
  }).join();
  std::int64_t tid = 0;
  std::thread([&tid] {
    tid = syscall(SYS_gettid);
    {
      TELLTALE_SCOPE("before");
    }
    telltale_flush();
    telltale_name_thread("renamed");
    TELLTALE_SCOPE("after");
  }).join();
  const Trace trace = stop();
  const auto track_of = [&](const char* name) {
    return trace.tracks[trace.events.track[events_named(trace, name).at(0)]];
  };
  EXPECT_NE(trace.strings[track_of("work").name].find("worker 7"), std::string::npos);
  EXPECT_NE(trace.strings[track_of("before").name].find("renamed"), std::string::npos);
  EXPECT_EQ(track_of("before").native_id, tid);
  EXPECT_EQ(trace.events.track[events_named(trace, "before").at(0)],
            trace.events.track[events_named(trace, "after").at(0)]);
}

TEST_F(ApiTest, spans_of_a_device_have_its_clock_and_find_their_launch) {
  start();
  const telltale_track description = {"stream 7", TELLTALE_TRACK_TYPE_STREAM, TELLTALE_CLOCK_MONOTONIC_NS, 0, 0, 7};
  const std::uint32_t stream = telltale_make_track(&description);
  const telltale_field correlation[] = {{"correlation", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  telltale_site launch = {"cudaLaunchKernel", "", "", "", correlation, 1, 0, TELLTALE_KIND_RUNTIME, 0};
  telltale_site kernel = {"gemm", "", "", "", nullptr, 0, 0, TELLTALE_KIND_KERNEL, 0};
  const std::int64_t before_launch = monotonic_ns();
  const telltale_scope scope = telltale_begin(&launch);
  const std::int64_t after_launch = monotonic_ns();
  telltale_value value;
  value.integer = 42;
  telltale_end_with(&scope, &value);
  const auto begin = static_cast<std::uint64_t>(monotonic_ns());
  EXPECT_EQ(telltale_span_at(stream, &kernel, begin, begin + 5000, 42, nullptr), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_begin_at(stream, &kernel, begin + 6000, 0, nullptr), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_end_at(stream, begin + 8000), TELLTALE_STATUS_OK);
  const Trace trace = stop();
  const std::vector<EventId> kernels = events_named(trace, "gemm");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(trace.events.kind[kernels[0]], Kind::kKernel);
  EXPECT_EQ(trace.events.duration[kernels[0]], 5000);
  EXPECT_EQ(trace.events.duration[kernels[1]], 2000);
  EXPECT_EQ(trace.events.start[kernels[1]] - trace.events.start[kernels[0]], 6000);
  EXPECT_EQ(trace.name(trace.launch_of(kernels[0])), "cudaLaunchKernel");
  const Track& track = trace.tracks[trace.events.track[kernels[0]]];
  EXPECT_EQ(track.kind, TrackKind::kStream);
  EXPECT_EQ(track.device, 0);
  EXPECT_EQ(track.native_id, 7);
  // The launch is on the recorder's clock, the kernel on another: they must meet.
  const std::int64_t between =
      trace.events.start[kernels[0]] - trace.events.start[events_named(trace, "cudaLaunchKernel").at(0)];
  constexpr std::int64_t kTolerance = 100'000;
  EXPECT_GE(between, static_cast<std::int64_t>(begin) - after_launch - kTolerance);
  EXPECT_LE(between, static_cast<std::int64_t>(begin) - before_launch + kTolerance);
}

TEST_F(ApiTest, a_scope_that_is_abandoned_leaves_no_trace) {
  static telltale_site given_up = TELLTALE_SITE("given up"), kept = TELLTALE_SITE("kept");
  start();
  const telltale_scope outer = telltale_begin(&kept);
  const telltale_scope inner = telltale_begin(&given_up);
  telltale_scope_abandon(inner.start);
  telltale_end(&outer);
  const telltale_scope open = telltale_begin(&given_up);
  telltale_scope_abandon(open.start);
  const Trace trace = stop();
  EXPECT_EQ(events_named(trace, "kept").size(), 1u);
  EXPECT_EQ(events_named(trace, "given up").size(), 0u);
}

TEST_F(ApiTest, a_scope_of_an_earlier_session_is_not_open_in_the_next) {
  static telltale_site site = TELLTALE_SITE("of the first");
  start();
  const telltale_scope scope = telltale_begin(&site);
  EXPECT_EQ(count_of(stop(), "of the first"), 1u) << "where it was still open";
  start();
  EXPECT_EQ(count_of(stop(), "of the first"), 0u);
  telltale_scope_abandon(scope.start);
}

TEST_F(ApiTest, values_may_be_texts_that_records_share) {
  const telltale_field fields[] = {{"phase", TELLTALE_FIELD_TYPE_NAME, 0}, {"n", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  telltale_site site = {"work", "", "", "", fields, 2, 0, TELLTALE_KIND_SCOPE, 0};
  start();
  for (const char* phase : {"prefill", "decode", ""}) {
    const std::uint64_t words[] = {telltale_intern(phase), 7};
    telltale_scope_end_words(&site, telltale_scope_begin(&site), words);
  }
  const Trace trace = stop();
  ASSERT_EQ(trace.other_arguments.size(), 3u);
  EXPECT_EQ(trace.strings[trace.other_arguments.row(0)], R"({"phase":"prefill","n":7})");
  EXPECT_EQ(trace.strings[trace.other_arguments.row(1)], R"({"phase":"decode","n":7})");
  EXPECT_EQ(trace.strings[trace.other_arguments.row(2)], R"({"phase":"","n":7})");
}

TEST_F(ApiTest, steps_are_numbered_and_touch_one_another) {
  start();
  for (int i = 0; i < 3; ++i) {
    TELLTALE_SCOPE("work");
    telltale_step();
  }
  const Trace trace = stop();
  ASSERT_EQ(trace.steps.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(trace.steps[i].index, static_cast<std::int64_t>(i));
  EXPECT_GE(trace.steps[1].start, trace.steps[0].start + trace.steps[0].duration);
}

TEST_F(ApiTest, metadata_and_the_name_of_the_process_come_along) {
  telltale_metadata("model", "resnet50");
  telltale_name_process("my server");
  start();
  TELLTALE_INSTANT("mark");
  const Trace trace = stop();
  const auto found = std::find_if(trace.metadata.begin(), trace.metadata.end(),
                                  [](const auto& pair) { return pair.first.find("model") != std::string::npos; });
  ASSERT_NE(found, trace.metadata.end());
  EXPECT_NE(found->second.find("resnet50"), std::string::npos);
  EXPECT_EQ(trace.strings[trace.processes.at(0).name], "my server");
}

TEST_F(ApiTest, metadata_given_while_it_records_come_along) {
  telltale_metadata("late", "not yet");
  start();
  TELLTALE_INSTANT("mark");
  const std::string longest(3000, 'x');
  telltale_metadata("late", longest.c_str());
  telltale_flush();
  const Trace until_now = read_recording(path());
  telltale_metadata("last", "at the end");
  const Trace trace = stop();
  const auto value = [](const Trace& recorded, std::string_view key) {
    const std::string* const found = recorded.metadata_named(key);
    return found == nullptr ? "" : *found;
  };
  EXPECT_EQ(value(until_now, "late"), "\"" + longest + "\"");
  EXPECT_EQ(value(trace, "late"), "\"" + longest + "\"");
  EXPECT_EQ(value(trace, "last"), "\"at the end\"");
}

TEST_F(ApiTest, names_made_at_run_time_are_shared) {
  start();
  for (int i = 0; i < 3; ++i) {
    const std::string name = "operator " + std::to_string(i % 2);
    const telltale_site description = {name.c_str(), "", "", "", nullptr, 0, 0, TELLTALE_KIND_OPERATOR, 0};
    telltale_site* site = telltale_make_site(&description);
    const telltale_scope scope = telltale_begin(site);
    telltale_end(&scope);
  }
  const Trace trace = stop();
  EXPECT_EQ(count_of(trace, "operator 0"), 2u);
  EXPECT_EQ(trace.events.kind[events_named(trace, "operator 1").at(0)], Kind::kOperator);
}

TEST_F(ApiTest, a_session_tells_of_each_complete_file) {
  std::vector<std::string> ready;
  telltale_options options = this->options();
  const telltale_schedule schedule = {.size = sizeof(telltale_schedule),
                                      .skip_first = 0,
                                      .wait = 1,
                                      .warmup = 0,
                                      .active = 1,
                                      .repeat = 2,
                                      .skip_first_wait = 0};
  options.schedule = &schedule;
  options.user = &ready;
  options.on_ready = [](const char* file, void* user) {
    // It is complete, and the session's own functions may be called.
    EXPECT_EQ(read_recording(file).anomalies.total(), 0u);
    statistics();
    static_cast<std::vector<std::string>*>(user)->push_back(file);
  };
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  std::vector<std::size_t> told_after;
  for (int step = 0; step < 5; ++step) {
    TELLTALE_INSTANT("mark");
    telltale_step();
    told_after.push_back(ready.size());
  }
  telltale_stop();
  EXPECT_EQ(ready, (std::vector<std::string>{path("run.tell"), path("run.1.tell")}));
  EXPECT_EQ(told_after, (std::vector<std::size_t>{0, 1, 1, 2, 2}));
}

TEST_F(ApiTest, stopping_while_warming_up_leaves_no_file) {
  telltale_options options = this->options();
  const telltale_schedule schedule = {.size = sizeof(telltale_schedule),
                                      .skip_first = 0,
                                      .wait = 0,
                                      .warmup = 2,
                                      .active = 1,
                                      .repeat = 1,
                                      .skip_first_wait = 0};
  options.schedule = &schedule;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  telltale_step();
  TELLTALE_INSTANT("mark");
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(files().empty());
}

// telltale_options as a program has it that was compiled when there was no more to choose.
struct OlderOptions {
  std::size_t size;
  const char* path;
  const telltale_schedule* schedule;
  unsigned char others[8];  // memory of the program's own, behind the struct
};

TEST_F(ApiTest, a_program_compiled_with_smaller_options_is_recorded) {
  OlderOptions older;
  constexpr std::size_t kSize = offsetof(OlderOptions, others);
  std::memset(&older, 0xa5, sizeof older);
  telltale_default_options(reinterpret_cast<telltale_options*>(&older), kSize);
  EXPECT_EQ(older.size, kSize);
  const std::string file = path("older.tell");
  older.path = file.c_str();
  ASSERT_EQ(telltale_start(reinterpret_cast<const telltale_options*>(&older)), TELLTALE_STATUS_OK);
  TELLTALE_INSTANT("mark");
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(count_of(read_recording(file), "mark"), 1u);
  for (const unsigned char byte : older.others) EXPECT_EQ(byte, 0xa5);
}

TEST_F(ApiTest, a_program_compiled_with_smaller_statistics_gets_what_fits) {
  start();
  TELLTALE_INSTANT("mark");
  stop();
  telltale_statistics counts;
  std::memset(&counts, 0xa5, sizeof counts);
  telltale_get_statistics(&counts, offsetof(telltale_statistics, dropped));
  EXPECT_EQ(counts.recorded, 1u);
  EXPECT_EQ(counts.dropped, 0xa5a5a5a5a5a5a5a5u);
}

TEST_F(ApiTest, what_is_emitted_while_nothing_is_recorded_is_said_to_be_gone) {
  static telltale_site site = TELLTALE_SITE("nowhere");
  const telltale_scope scope = telltale_begin(&site);
  EXPECT_EQ(telltale_end(&scope), TELLTALE_STATUS_NOT_RECORDING);
  EXPECT_EQ(telltale_instant(&site, nullptr), TELLTALE_STATUS_NOT_RECORDING);
  EXPECT_EQ(telltale::allocated(&site, 1), TELLTALE_STATUS_NOT_RECORDING);
  start();
  EXPECT_EQ(telltale_instant(&site, nullptr), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale::allocated(&site, 1), TELLTALE_STATUS_OK);
}

TEST_F(ApiTest, one_line_may_have_several_scopes) {
  start();
  {
    const int n = 1;
    // clang-format off
    TELLTALE_SCOPE("first"); TELLTALE_SCOPE("second", n); TELLTALE_ANNOTATION("third", n, n + 1);
    // clang-format on
  }
  const Trace trace = stop();
  for (const char* name : {"first", "second", "third"}) EXPECT_EQ(count_of(trace, name), 1u) << name;
}

TEST_F(ApiTest, misuse_is_answered_with_a_sentence) {
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_NOT_STARTED);
  EXPECT_STREQ(telltale_error_text(), "no session has been started");
  EXPECT_EQ(telltale_step(), TELLTALE_STATUS_NOT_STARTED);
  EXPECT_EQ(telltale_flush(), TELLTALE_STATUS_NOT_STARTED);
  start();
  const telltale_options options = this->options();
  EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_ALREADY_STARTED);
  EXPECT_EQ(telltale_dump(nullptr), TELLTALE_STATUS_NOT_FLIGHT);
}

}  // namespace
}  // namespace telltale
