// Every trace we have, written as tables of a .tell file and read back: equal in every column, and in every number.
#include <gtest/gtest.h>

#include "compare_traces.h"
#include "formats/read_trace.h"
#include "formats/write_trace.h"
#include "traces_on_disk.h"

namespace telltale::oracle {
namespace {

void expect_same_numbers(const Trace& a, const Trace& b) {
  ASSERT_EQ(a.strings.size(), b.strings.size());
  for (StringId id = 0; id < a.strings.size(); ++id) EXPECT_EQ(a.strings[id], b.strings[id]);
  EXPECT_EQ(a.events.start, b.events.start);
  EXPECT_EQ(a.events.duration, b.events.duration);
  EXPECT_EQ(a.events.name, b.events.name);
  EXPECT_EQ(a.events.kind, b.events.kind);
  EXPECT_EQ(a.events.track, b.events.track);
  EXPECT_EQ(a.events.cause, b.events.cause);
  EXPECT_EQ(a.events.parent, b.events.parent);
  EXPECT_EQ(a.operator_inputs, b.operator_inputs);
  EXPECT_EQ(a.kernel_launches, b.kernel_launches);
  EXPECT_EQ(a.source_locations, b.source_locations);
  const auto anomalies_a = a.anomalies.list(), anomalies_b = b.anomalies.list();
  ASSERT_EQ(anomalies_a.size(), anomalies_b.size());
  for (std::size_t i = 0; i < anomalies_a.size(); ++i) {
    EXPECT_EQ(anomalies_a[i].example.text, anomalies_b[i].example.text);
    EXPECT_EQ(anomalies_a[i].example.byte_offset, anomalies_b[i].example.byte_offset);
  }
}

Trace written_and_read(const Trace& trace, unsigned threads, std::string_view suffix = ".tell") {
  const TemporaryFile file("", suffix);
  WriteOptions replacing;
  replacing.existing = PendingFile::Existing::kReplace;
  const auto left_out = write_trace(trace, *format_named("tell"), file.path(), replacing);
  EXPECT_TRUE(left_out && left_out->empty());
  auto back = read_trace(file.path(), with_threads(threads));
  EXPECT_TRUE(back) << to_string(back.error());
  return back ? std::move(*back) : Trace();
}

void expect_same_after_writing(const Trace& trace) {
  const Trace one = written_and_read(trace, 1), four = written_and_read(trace, 4);
  EXPECT_EQ(difference(trace, one, "before", "after"), "");
  expect_same_numbers(trace, one);
  expect_same_numbers(trace, four);
}

class TellRoundTrip : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(TellRoundTrip, loses_and_changes_nothing) {
  const auto trace = read_trace(GetParam().string(), with_threads(1));
  if (!trace) return;  // a trap that is no trace
  expect_same_after_writing(*trace);
}

std::string name_of_test(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.filename().string();
  name.resize(name.find('.'));
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bundled, TellRoundTrip, testing::ValuesIn(bundled_traces()), name_of_test);
INSTANTIATE_TEST_SUITE_P(Diagnosed, TellRoundTrip, testing::ValuesIn(diagnosed_traces()), name_of_test);
INSTANTIATE_TEST_SUITE_P(Traps, TellRoundTrip, testing::ValuesIn(trap_files()), name_of_test);

// What no trace of torch's has: places in the source, pools of memory, anomalies of recordings, a name that is no
// ASCII.
TEST(TellRoundTrip, keeps_what_only_our_recorder_knows) {
  auto read = read_trace(bundled_traces().front().string(), with_threads(1));
  ASSERT_TRUE(read);
  Trace& trace = *read;
  InternedStrings& strings = trace.strings;
  trace.source_locations = {{strings.intern("größe.cpp"), strings.intern("f"), 7}, {kEmptyString, kEmptyString, 0}};
  trace.sources.append(0, 1);
  trace.sources.append(5, 0);
  trace.memory.pool.assign(trace.memory.size(), kEmptyString);
  trace.memory.pool.back() = strings.intern("arena");
  trace.anomalies.add_many(Anomaly::kDroppedEvents, 800, 3, "800 for want of memory");
  trace.distributed = Distributed{"nccl", "2.21", 3, std::nullopt, {{"0", "world", "nccl", 8, {0, 1, -7}}, {}}};
  trace.recorded = {true, false, true, false, true};
  trace.graph_nodes.append(2, {-1, INT64_MIN});
  trace.graph_origins.append(2, {0, strings.intern("train.py(3): step")});
  trace.graph_origins.append(5, {kNoEvent, kEmptyString});
  strings.shrink();
  expect_same_after_writing(trace);
}

TEST(TellRoundTrip, works_through_a_compressor_too) {
  const auto trace = read_trace(bundled_traces().front().string(), with_threads(1));
  ASSERT_TRUE(trace);
  for (const std::string_view suffix : {".tell.gz", ".tell.zst"})
    EXPECT_EQ(difference(*trace, written_and_read(*trace, 1, suffix), "before", "after"), "");
}

TEST(TellRoundTrip, of_a_trace_without_anything_is_one_without_anything) { expect_same_after_writing(Trace()); }

}  // namespace
}  // namespace telltale::oracle
