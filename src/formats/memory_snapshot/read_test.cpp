#include "formats/memory_snapshot/read.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/input/text_in_memory.h"

namespace telltale::memory_snapshot {
namespace {

constexpr std::int64_t kMega = 1 << 20;

Result<Trace> read_json_text(std::string_view text) {
  TextInMemory input(text);
  return read(input, "x", {.threads = 1});
}

// A segment of 20 MiB at 4096: 2 MiB in use, the rest free.
std::string snapshot(const std::string& entries, const std::string& more = "") {
  return R"({"segments": [{"device": 0, "address": 4096, "total_size": 20971520, "stream": 0, "segment_type": "large",
             "segment_pool_id": [0, 0], "is_expandable": false, "frames": [], "blocks": [
               {"size": 2097152, "requested_size": 2000000, "state": "active_allocated", "frames": [
                  {"filename": "a;b.py", "line": 3, "name": "f"}, {"filename": "c.py", "line": 4, "name": "g"}]},
               {"size": 18874368, "requested_size": 0, "state": "inactive", "frames": []}]}],
            "device_traces": [[)" +
         entries + "]]" + more + "}";
}
std::string entry(std::string_view action, std::uint64_t address, std::int64_t size, std::int64_t time) {
  return R"({"action": ")" + std::string(action) + R"(", "addr": )" + std::to_string(address) + R"(, "size": )" +
         std::to_string(size) + R"(, "stream": 0, "time_us": )" + std::to_string(time) + R"(, "frames": []})";
}

TEST(ReadSnapshot, rebuilds_what_stood_before_the_log) {
  // Before: 2 MiB at 4096 is free, 3 MiB at 4096 + 2 MiB are in use; then those are freed and the first is allocated.
  const std::uint64_t second = 4096 + 2 * kMega;
  const auto trace = read_json_text(snapshot(entry("free_requested", second, 3 * kMega - 5, 10) + "," +
                                             entry("free_completed", second, 3 * kMega - 5, 11) + "," +
                                             entry("alloc", 4096, 2000000, 12)));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->anomalies.total(), 0u);
  ASSERT_EQ(trace->memory_blocks.size(), 3u);
  const auto& blocks = trace->memory_blocks;
  EXPECT_EQ(blocks[0].bytes, 2 * kMega);
  EXPECT_EQ(blocks[0].state, BlockState::kInactive);
  EXPECT_EQ(blocks[1].address, second);
  EXPECT_EQ(blocks[1].bytes, 3 * kMega);
  EXPECT_EQ(blocks[1].requested, 3 * kMega - 5);
  EXPECT_EQ(blocks[1].state, BlockState::kAllocated);
  EXPECT_EQ(blocks[2].bytes, 15 * kMega);
  EXPECT_EQ(trace->memory.bytes, (std::vector<std::int64_t>{-3 * kMega, 2 * kMega}));
  EXPECT_EQ(trace->memory.total_allocated, (std::vector<std::int64_t>{0, 2 * kMega}));
  EXPECT_EQ(trace->memory.total_reserved, (std::vector<std::int64_t>{20 * kMega, 20 * kMega}));
  EXPECT_EQ(trace->duration, 2000);
}

TEST(ReadSnapshot, joins_frames_and_keeps_their_separator_out_of_names) {
  const auto trace = read_json_text(snapshot(""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->strings[trace->memory_blocks[0].call_stack], "a,b.py(3): f;c.py(4): g");
}

TEST(ReadSnapshot, counts_entries_that_contradict_the_state_and_keeps_them) {
  const auto trace =
      read_json_text(snapshot(entry("alloc", 99, 512, 1) + "," + entry("segment_free", 4096, 512, 2) + "," +
                              entry("free_completed", 4096, 512, 3) + "," + entry("no_such", 1, 1, 4)));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kContradictingAllocatorEntry), 3u);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kMalformedAllocatorEntry), 1u);
  EXPECT_EQ(trace->allocator_events.size(), 3u);
  EXPECT_EQ(trace->memory_blocks.size(), 2u);
}

TEST(ReadSnapshot, takes_apart_and_joins_expandable_segments) {
  // 4 MiB were mapped behind 2, used, and the middle 2 unmapped: two segments are left.
  const auto segment = [](std::uint64_t address) {
    return R"({"device": 0, "address": )" + std::to_string(address) +
           R"(, "total_size": 2097152, "stream": 0, "segment_type": "large", "is_expandable": true, "blocks": [
               {"size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": []}]})";
  };
  const std::uint64_t base = 1 << 24;
  const std::string text = R"({"segments": [)" + segment(base) + "," + segment(base + 4 * kMega) +
                           R"(], "device_traces": [[)" + entry("segment_map", base + 2 * kMega, 4 * kMega, 1) + "," +
                           entry("alloc", base + 2 * kMega, 2 * kMega, 2) + "," +
                           entry("alloc", base + 4 * kMega, 2 * kMega, 3) + "," +
                           entry("free_requested", base + 2 * kMega, 2 * kMega, 4) + "," +
                           entry("free_completed", base + 2 * kMega, 2 * kMega, 5) + "," +
                           entry("segment_unmap", base + 2 * kMega, 2 * kMega, 6) + "]]}";
  const auto trace = read_json_text(text);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->anomalies.total(), 0u);
  ASSERT_EQ(trace->memory_segments.size(), 1u);
  EXPECT_EQ(trace->memory_segments[0].bytes, 2 * kMega);
  ASSERT_EQ(trace->memory_blocks.size(), 1u);
  EXPECT_EQ(trace->memory_blocks[0].state, BlockState::kAllocated);
}

TEST(ReadSnapshot, gives_entries_without_times_one_microsecond_each) {
  const auto trace =
      read_json_text(snapshot(R"({"action": "snapshot", "addr": 0, "size": 0}, {"action": "snapshot"})"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kAllocatorEntryWithoutTime), 1u);
  EXPECT_EQ(trace->duration, 1000);
}

// The block that is held all the time has a stack, so that it was recorded, by an entry that the log has not.
TEST(ReadSnapshot, leaves_out_annotations_from_before_a_log_that_has_forgotten_its_start) {
  const auto mark = [](std::string_view stage, std::string_view name, std::int64_t time) {
    return R"({"stage": ")" + std::string(stage) + R"(", "name": ")" + std::string(name) +
           R"(", "device": 0, "time_us": )" + std::to_string(time) + "}";
  };
  const std::string marks = R"(, "external_annotations": [)" + mark("START", "first", 1) + "," +
                            mark("END", "first", 2) + "," + mark("START", "second", 3) + "," +
                            mark("END", "second", 11) + "," + mark("START", "third", 11) + "," +
                            mark("END", "third", 12) + "]";
  const std::uint64_t free = 4096 + 2 * kMega;
  const auto trace =
      read_json_text(snapshot(entry("alloc", free, kMega, 10) + "," + entry("free_requested", free, kMega, 11) + "," +
                                  entry("free_completed", free, kMega, 13),
                              marks));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_NE(trace->metadata_named("allocator_log_is_cut"), nullptr);
  EXPECT_EQ(trace->anomalies.total(), 0u);
  std::vector<std::string_view> names;
  for (EventId event = 0; event < trace->events.size(); ++event)
    if (trace->events.kind[event] == Kind::kAnnotation) names.push_back(trace->name(event));
  EXPECT_EQ(names, std::vector<std::string_view>{"third"});
}

// Memory that was there before anything was recorded has no stack.
TEST(ReadSnapshot, takes_a_log_that_begins_late_as_complete) {
  const std::uint64_t second = 4096 + 2 * kMega;
  const auto trace = read_json_text(
      snapshot(entry("free_requested", second, kMega, 10) + "," + entry("alloc", 4096, 2000000, 12),
               R"(, "external_annotations": [{"stage": "START", "name": "first", "device": 0, "time_us": 9}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->metadata_named("allocator_log_is_cut"), nullptr);
}

TEST(ReadSnapshot, fills_gaps_between_blocks) {
  const auto trace = read_json_text(R"([{"address": 512, "total_size": 2048, "stream": 0, "segment_type": "small",
      "blocks": [{"address": 1024, "size": 512, "state": "active_awaiting_free"}]}])");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->anomalies.count(Anomaly::kUnevenSegment), 1u);
  ASSERT_EQ(trace->memory_blocks.size(), 3u);
  EXPECT_EQ(trace->memory_blocks[1].state, BlockState::kAwaitingFree);
}

TEST(ReadSnapshot, says_that_a_file_was_cut_off_in_its_first_segment) {
  // {'segments': [{'device': 0, … of a file that ends there
  const std::string cut = std::string("\x80\x04}\x94(\x8c\x08segments\x94]\x94}\x94(\x8c\x06") + "device\x94K";
  EXPECT_EQ(read_json_text(cut).error().message, "ends before its first segment; it was probably cut off");
}

TEST(ReadSnapshot, refuses_other_pickles_and_json) {
  EXPECT_EQ(read_json_text("[1, 2]").error().message,
            "is no memory snapshot of torch: none of its elements is a segment");
  EXPECT_EQ(read_json_text("\x80\x04}.").error().message, "is no memory snapshot of torch: it has no segments");
  EXPECT_EQ(read_json_text("\x80\x04K\x01.").error().message, "is no memory snapshot of torch: it has no segments");
}

TEST(ReadSnapshot, is_recognized_by_its_start) {
  for (const std::string_view start : {"\x80\x02}", "(dp0\nV", "{\"segments\": [", " {\n\"device_traces\":[]",
                                       "[{\"device\": 0, \"total_size\": 1, \"stream\": 0,"})
    EXPECT_TRUE(is_snapshot(start)) << start;
  for (const std::string_view start :
       {"{\"traceEvents\": [", "[{\"ph\": \"X\", \"total_size\": 1, \"stream\": 1}", "{}", "[]", "\x80"})
    EXPECT_FALSE(is_snapshot(start)) << start;
}

}  // namespace
}  // namespace telltale::memory_snapshot
