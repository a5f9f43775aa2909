// What is left of a recording that was cut, damaged, or made up to do harm.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "formats/tell/testing/read_bytes.h"
#include "formats/tell/testing/tell_sketch.h"

namespace telltale::tell {
namespace {

using testing::example_of;
using testing::fixed;
using testing::read_bytes;
using testing::RecordsSketch;
using testing::rows;
using testing::simple_recording;
using testing::TellSketch;
using testing::varint;

using Lines = std::vector<std::string>;

// Three chunks of records on two threads, and something of everything else.
struct Sample {
  TellSketch sketch = simple_recording();
  std::vector<std::size_t> records;  // where each chunk of them ends
  std::size_t end = 0;               // where the mark of its end does

  Sample() {
    const auto work = sketch.site("work", {"", "a.cpp", "f", 3, 0, {{"rows", 0}}});
    sketch.thread(1, 1, "a").thread(2, 2, "b").track(3, 1, 7, "stream 7", 0, 1);
    add(RecordsSketch(1).span(work, 1000, 10, varint(8)).counter(work, 1001, 2));
    sketch.calibrations({{1020, 1020, 5'000}}).losses({{0, 0}});
    add(RecordsSketch(2).span(work, 1030, 10, varint(2)).span_on(3, work, 1031, 3, 0, varint(2)));
    sketch.open_scopes(1, 1050, {});
    add(RecordsSketch(1, 2).span(work, 1060, 10, varint(6)));
    sketch.end(1100);
    end = sketch.bytes().size();
    sketch.trailer();
  }
  void add(const RecordsSketch& chunk) {
    sketch.records(chunk);
    records.push_back(sketch.bytes().size());
  }
};

TEST(DamagedRecording, is_a_prefix_wherever_the_file_is_cut) {
  const Sample sample;
  const std::string& bytes = sample.sketch.bytes();
  const std::vector<Lines> expected = {
      {},
      {"annotation work 0+10 on a"},
      {"annotation work 0+10 on a", "annotation work 30+10 on b", "device_annotation work 31+3 on stream 7"},
      {"annotation work 0+10 on a", "annotation work 60+10 on a", "annotation work 30+10 on b",
       "device_annotation work 31+3 on stream 7"},
  };
  for (std::size_t size = 16; size <= bytes.size(); ++size) {
    const auto trace = read_bytes(std::string_view(bytes).substr(0, size));
    ASSERT_TRUE(trace) << "cut at " << size;
    std::size_t chunks = 0;
    while (chunks < sample.records.size() && sample.records[chunks] <= size) ++chunks;
    EXPECT_EQ(rows(*trace), expected[chunks]) << "cut at " << size;
    EXPECT_EQ(trace->anomalies.count(Anomaly::kUnfinishedRecording), size < sample.end ? 1u : 0u) << "cut at " << size;
    EXPECT_EQ(trace->anomalies.count(Anomaly::kDamagedChunk), 0u) << "cut at " << size;
    const auto& boundaries = sample.sketch.boundaries();
    const bool is_whole = size == bytes.size() || std::ranges::find(boundaries, size) != boundaries.end();
    EXPECT_EQ(trace->anomalies.count(Anomaly::kTruncated), is_whole ? 0u : 1u) << "cut at " << size;
  }
  for (std::size_t size = 8; size < 16; ++size) EXPECT_FALSE(read_bytes(std::string_view(bytes).substr(0, size)));
}

TEST(DamagedRecording, never_hides_that_a_byte_has_changed) {
  const Sample sample;
  const std::string& bytes = sample.sketch.bytes();
  ASSERT_EQ(read_bytes(bytes)->anomalies.total(), 0u);
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    if (at == 10 || at == 11) continue;  // the minor version: a later one may add what we can skip
    for (const int bit : {0x01, 0x80}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      const auto trace = read_bytes(changed);
      EXPECT_TRUE(!trace || trace->anomalies.total() > 0) << "byte " << at;
    }
  }
}

TEST(DamagedRecording, says_exactly_how_many_records_are_missing) {
  const Sample sample;
  // The second chunk of records, which had two; nothing behind it is of its thread, but the end knows how many there
  // were.
  std::string bytes = sample.sketch.bytes();
  bytes[sample.records[1] - 1] ^= 1;
  auto trace = read_bytes(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(rows(*trace), (Lines{"annotation work 0+10 on a", "annotation work 60+10 on a"}));
  EXPECT_EQ(trace->anomalies.count(Anomaly::kDamagedChunk), 1u);
  EXPECT_EQ(example_of(*trace, Anomaly::kDamagedChunk), "2 records are missing");
  // The first chunk, of a recording without an end: the next one of the same thread knows.
  bytes = sample.sketch.bytes().substr(0, sample.records[2]);
  bytes[sample.records[0] - 1] ^= 1;
  trace = read_bytes(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(example_of(*trace, Anomaly::kDamagedChunk), "2 records are missing");
}

TEST(DamagedRecording, keeps_records_whose_names_were_lost) {
  TellSketch sketch = simple_recording();
  const std::size_t before = sketch.bytes().size();
  const auto site = sketch.site("work", {"", "", "", 0, 0, {{"rows", 0}}});
  sketch.thread(1, 1, "main");
  const auto known = sketch.site("known");
  sketch.records(RecordsSketch(1).span(site, 1000, 10, varint(2)).span(known, 1020, 10)).end(1100);
  std::string bytes = sketch.bytes();
  bytes[before + 2 * 32 + 10] ^= 1;  // the text "work"
  auto trace = read_bytes(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->events.size(), 2u);
  for (std::size_t at = before; at < bytes.size(); ++at) {
    bytes = sketch.bytes();
    bytes[at] ^= 1;
    trace = read_bytes(bytes);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->events.size() == 2 || trace->events.size() == 0) << at;
  }
}

TEST(DamagedRecording, counts_what_only_later_versions_know) {
  TellSketch sketch(1, 7);
  const auto site = sketch.site("work");
  sketch.chunk(500, "what").thread(1, 1, "main").chunk(12, "").records(RecordsSketch(1).span(site, 0, 5)).end(10);
  const auto trace = read_bytes(sketch.bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->events.size(), 1u);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kUnknownChunk), 2u);
  EXPECT_EQ(example_of(*trace, Anomaly::kUnknownChunk), "kind 500");
}

TEST(DamagedRecording, of_another_major_version_is_refused) {
  const auto trace = read_bytes(TellSketch(2, 0).bytes());
  ASSERT_FALSE(trace);
  EXPECT_EQ(to_string(trace.error()),
            "test.tell: is in version 2 of the .tell format, and this Telltale reads version 1");
}

TEST(DamagedRecording, with_records_that_make_no_sense_loses_only_their_chunk) {
  const std::vector<std::string> bad_payloads = {
      "",
      varint(1),
      varint(1) + varint(1ull << 60) + varint(0) + std::string(6, '\0'),            // more records than bytes
      varint(1) + varint(1) + varint(0) + varint(1) + '\0' + std::string(5, '\0'),  // no site, no time
      RecordsSketch(1).odd(13).payload(),
      RecordsSketch(1).odd(255).payload(),
      RecordsSketch(1).span(1, 0, 5).payload().substr(0, 8),
  };
  for (std::size_t i = 0; i < bad_payloads.size(); ++i) {
    TellSketch sketch = simple_recording();
    const auto site = sketch.site("work");
    sketch.thread(1, 1, "main").records(RecordsSketch(1).span(site, 1000, 5));
    sketch.chunk(5, bad_payloads[i]).records(RecordsSketch(1, 1).span(site, 1010, 5)).end(1100);
    const auto trace = read_bytes(sketch.bytes());
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->events.size(), 2u) << i;
    EXPECT_EQ(trace->anomalies.count(Anomaly::kDamagedChunk), 1u) << i;
  }
}

TEST(DamagedRecording, believes_no_count_that_the_bytes_do_not_bear_out) {
  const std::string huge = varint(UINT64_MAX), one = varint(1);
  const std::pair<int, std::string> chunks[] = {
      {1, huge},
      {1, one + huge},
      {2, one + huge},
      {2, huge + one + one},
      {3, one + huge},
      {3, huge + one},
      {4, huge},
      {6, huge},
      {7, huge},
      {8, one + fixed(0, 8) + huge},
      {9, one + one},
      {9, ""},
      {3, one + one + std::string(5, '\0') + huge},
  };
  for (const auto& [kind, payload] : chunks) {
    const auto trace = read_bytes(TellSketch().chunk(kind, payload).bytes());
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->anomalies.count(Anomaly::kDamagedChunk), 1u) << kind;
  }
}

TEST(DamagedRecording, takes_times_that_no_clock_shows_for_none) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site("work");
  sketch.thread(1, 1, "main").track(2, 1, 7, "stream 7", 0, 1);
  sketch.records(RecordsSketch(1)
                     .span(site, UINT64_MAX, 5)
                     .span(site, 1000, UINT64_MAX)
                     .span(site, 1000, 3'000'000'000'000'000'000)
                     .instant(site, UINT64_MAX - 1)
                     .counter(site, UINT64_MAX, 1)
                     .allocation(0, UINT64_MAX, 1, 1, 1ll << 40)
                     .flow(site, UINT64_MAX, 1, 0)
                     .async_begin(site, UINT64_MAX, 1)
                     .async_end(site, UINT64_MAX, 1)
                     .span_on(2, site, UINT64_MAX, 1)
                     .end_on(2, UINT64_MAX));
  const auto trace = read_bytes(sketch.open_scopes(1, UINT64_MAX, {{site, UINT64_MAX - 5}}).end(UINT64_MAX).bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(rows(*trace), (Lines{"annotation work 0+0 on main", "annotation work 0+0 on main"}));
  EXPECT_EQ(trace->anomalies.count(Anomaly::kMissingTime), 10u);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kMissingDuration), 2u);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kNumberOutOfRange), 1u);
}

TEST(DamagedRecording, repairs_texts_that_are_no_utf8) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site("caf\xE9");
  sketch.session({{"process", "\xFF"}, {"meta:\xFE", "x"}});
  sketch.thread(1, 1, "main").records(RecordsSketch(1).span(site, 1000, 5)).end(1100);
  const auto trace = read_bytes(sketch.bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->name(0), "caf\xEF\xBF\xBD");
  EXPECT_EQ(trace->strings[trace->processes[0].name], "\xEF\xBF\xBD");
  EXPECT_EQ(trace->metadata.back().first, "\xEF\xBF\xBD");
  EXPECT_EQ(trace->anomalies.count(Anomaly::kInvalidUtf8), 3u);
}

TEST(DamagedRecording, whose_writer_described_everything_again_is_whole) {
  TellSketch sketch = simple_recording();
  const auto site = sketch.site("work");
  sketch.thread(1, 1, "main").records(RecordsSketch(1).span(site, 1000, 5));
  sketch.chunk(2, varint(1) + varint(3) + testing::text("work") + testing::text("main") + testing::text("more"));
  sketch.chunk(3, varint(1) + varint(2) + varint(1) + std::string(6, '\0') + varint(3) + std::string(6, '\0'));
  sketch.records(RecordsSketch(1, 1).span(site, 1010, 5).span(2, 1020, 5)).end(1100);
  const auto trace = read_bytes(sketch.bytes());
  ASSERT_TRUE(trace);
  EXPECT_EQ(rows(*trace),
            (Lines{"annotation work 0+5 on main", "annotation work 10+5 on main", "annotation more 20+5 on main"}));
  EXPECT_EQ(trace->anomalies.total(), 0u);
}

TEST(Recording, does_not_depend_on_how_many_threads_read_it) {
  TellSketch sketch = simple_recording();
  std::vector<std::uint64_t> sites;
  for (int i = 0; i < 20; ++i) {
    sites.push_back(sketch.site("site " + std::to_string(i), {"", "", "", 0, i % 8, {{"n", 0}}}));
    sketch.thread(static_cast<std::uint64_t>(i) + 1, i, "thread " + std::to_string(i));
  }
  std::mt19937 random(3);
  std::vector<std::uint64_t> before(21);
  for (int chunk = 0; chunk < 40; ++chunk) {
    const std::uint64_t track = 1 + random() % 20;
    RecordsSketch records(track, before[track]);
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t time = 1000 + random() % 100'000;
      records.span(sites[random() % 20], time, random() % 100, testing::zigzagged(static_cast<int>(random() % 9)));
      if (i % 7 == 0) records.async_begin(sites[random() % 20], time, random() % 5, varint(0));
      if (i % 7 == 3) records.async_end(sites[random() % 20], time, random() % 5);
      if (i % 5 == 0) records.flow(sites[random() % 3], time, random() % 9, i % 3);
    }
    before[track] += records.count();
    sketch.records(records);
  }
  const auto one = read_bytes(sketch.bytes(), 1), four = read_bytes(sketch.bytes(), 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(rows(*one), rows(*four));
  EXPECT_EQ(one->events.parent, four->events.parent);
  EXPECT_EQ(one->events.name, four->events.name);
  EXPECT_EQ(one->flows.size(), four->flows.size());
  ASSERT_GT(one->flows.size(), 0u);
  for (std::size_t i = 0; i < one->other_arguments.size(); ++i)
    EXPECT_EQ(one->other_arguments.row(i), four->other_arguments.row(i));
  for (int i = 0; i < kAnomalyCount; ++i)
    EXPECT_EQ(one->anomalies.count(static_cast<Anomaly>(i)), four->anomalies.count(static_cast<Anomaly>(i)));
}

}  // namespace
}  // namespace telltale::tell
