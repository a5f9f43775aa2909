#include "formats/tell/memory_records.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "formats/tell/testing/read_bytes.h"
#include "formats/tell/testing/tell_sketch.h"

namespace telltale::tell {
namespace {

using testing::FieldSketch;
using testing::read_bytes;
using testing::RecordsSketch;
using testing::simple_recording;
using testing::TellSketch;
using testing::varint;
using testing::zigzagged;

constexpr int kInteger = 0, kName = 4;
constexpr int kOperator = 3, kOther = 14;
constexpr int kAllocate = 0, kFreeRequested = 1, kFreeCompleted = 2, kSegmentAllocate = 3, kOutOfMemory = 7,
              kSnapshot = 8, kState = 9;

struct Entry {
  int action = 0;
  std::int64_t address = 0, bytes = 0, device = 0, stream = 0;
  std::string pool;
};

// Two threads, tracks 1 and 2.
class MemoryRecords : public ::testing::Test {
 protected:
  MemoryRecords() {
    sketch_.thread(1, 100, "main").thread(2, 200, "backward");
    const auto site = [&](const std::string& name, std::vector<FieldSketch> fields) {
      return sketch_.site(name, {"", "", "", 0, kOther, std::move(fields)});
    };
    entry_ = site("allocator event", {{"Action", kInteger},
                                      {"Addr", kInteger},
                                      {"Bytes", kInteger},
                                      {"Device", kInteger},
                                      {"Stream", kInteger},
                                      {"Pool", kName}});
    segment_ = site("memory segment", {{"Addr", kInteger},
                                       {"Bytes", kInteger},
                                       {"Device", kInteger},
                                       {"Stream", kInteger},
                                       {"Pool", kName},
                                       {"Large", kInteger},
                                       {"Expandable", kInteger}});
    block_ = site("memory block", {{"Addr", kInteger},
                                   {"Bytes", kInteger},
                                   {"Device", kInteger},
                                   {"Requested", kInteger},
                                   {"State", kInteger},
                                   {"Segment", kInteger}});
    noted_ = site("noted tensor",
                  {{"Addr", kInteger}, {"Bytes", kInteger}, {"Device", kInteger}, {"Role", kName}, {"Name", kName}});
    mm_ = sketch_.site("aten::mm", {"", "", "", 0, kOperator, {}});
  }

  std::uint64_t text(const std::string& value) { return value.empty() ? 0 : sketch_.string(value); }

  std::string values(const Entry& entry) {
    return zigzagged(entry.action) + zigzagged(entry.address) + zigzagged(entry.bytes) + zigzagged(entry.device) +
           zigzagged(entry.stream) + varint(text(entry.pool));
  }
  void log(std::uint64_t time, const Entry& entry) { records_.instant(entry_, time, values(entry)); }
  void segment(std::uint64_t time, std::int64_t address, std::int64_t bytes, std::int64_t device = 0) {
    records_.instant(segment_, time,
                     zigzagged(address) + zigzagged(bytes) + zigzagged(device) + zigzagged(7) + varint(text("1.0")) +
                         zigzagged(1) + zigzagged(0));
  }
  void block(std::uint64_t time, std::int64_t segment, std::int64_t address, std::int64_t bytes, std::int64_t requested,
             int state, std::int64_t device = 0) {
    records_.instant(block_, time,
                     zigzagged(address) + zigzagged(bytes) + zigzagged(device) + zigzagged(requested) +
                         zigzagged(state) + zigzagged(segment));
  }

  Trace trace() {
    auto trace = read_bytes(sketch_.records(records_).records(others_).end(20'000).bytes());
    EXPECT_TRUE(trace) << (trace ? "" : to_string(trace.error()));
    return trace ? std::move(*trace) : Trace();
  }

  TellSketch sketch_ = simple_recording();
  RecordsSketch records_{1}, others_{2};
  std::uint64_t entry_ = 0, segment_ = 0, block_ = 0, noted_ = 0, mm_ = 0;
};

TEST_F(MemoryRecords, become_a_log_in_the_order_of_time_with_the_operators_around) {
  log(1010, {kSegmentAllocate, 0x1000, 2 << 20, 0, 5});
  log(1020, {kAllocate, 0x1000, 1000, 0, 5, "1.0"});
  records_.span(mm_, 1000, 100);
  others_.instant(entry_, 1500, values({kFreeRequested, 0x1000, 1000, 0, 5, "1.0"}));
  log(1600, {kFreeCompleted, 0x1000, 1000, 0, 5, "1.0"});
  log(1700, {kOutOfMemory, 12345, 1 << 30});
  log(1800, {kSnapshot, 0, 77});
  const Trace trace = this->trace();
  ASSERT_EQ(trace.allocator_events.size(), 6u);
  const AllocatorAction expected[] = {AllocatorAction::kSegmentAllocate, AllocatorAction::kAllocate,
                                      AllocatorAction::kFreeRequested,   AllocatorAction::kFreeCompleted,
                                      AllocatorAction::kOutOfMemory,     AllocatorAction::kSnapshot};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(trace.allocator_events[i].action, expected[i]) << i;
  const AllocatorEvent& allocated = trace.allocator_events[1];
  EXPECT_EQ(allocated.time, 20);
  EXPECT_EQ(allocated.address, 0x1000u);
  EXPECT_EQ(allocated.bytes, 1000);
  EXPECT_EQ(allocated.stream, 5u);
  EXPECT_EQ(allocated.device, 0);
  EXPECT_EQ(trace.strings[allocated.pool], "1.0");
  ASSERT_NE(allocated.event, kNoEvent);
  EXPECT_EQ(trace.name(allocated.event), "aten::mm");
  EXPECT_EQ(trace.allocator_events[3].event, kNoEvent);
  EXPECT_EQ(trace.allocator_events[4].address, 12345u);
}

TEST_F(MemoryRecords, become_memory_events_in_whole_blocks) {
  log(1020, {kAllocate, 0x1000, 1000});
  log(1030, {kAllocate, 0x2000, 512});
  log(1500, {kFreeRequested, 0x1000, 1000});
  log(1600, {kFreeCompleted, 0x1000, 1000});
  const Trace trace = this->trace();
  EXPECT_EQ(trace.memory.bytes, (std::vector<std::int64_t>{1024, 512, -1024}));
  EXPECT_EQ(trace.memory.address, (std::vector<std::uint64_t>{0x1000, 0x2000, 0x1000}));
  EXPECT_TRUE(trace.recorded.memory);
}

TEST_F(MemoryRecords, begin_at_the_mark_of_the_state_for_its_device_alone) {
  log(1010, {kAllocate, 0x1000, 512, 0});
  log(1020, {kAllocate, 0x9000, 512, 1});
  log(1030, {kState, 0, 512, 0});
  log(1040, {kAllocate, 0x1200, 512, 0});
  segment(1050, 0x1000, 4096);
  block(1051, 0x1000, 0x1000, 512, 500, 1);
  block(1052, 0x1000, 0x1200, 3584, 0, 0);
  const Trace trace = this->trace();
  ASSERT_EQ(trace.allocator_events.size(), 3u);
  EXPECT_EQ(trace.allocator_events[0].device, 1);
  EXPECT_EQ(trace.allocator_events[1].action, AllocatorAction::kSnapshot);
  EXPECT_EQ(trace.allocator_events[2].address, 0x1200u);
  EXPECT_EQ(trace.memory.size(), 3u);  // these stay
  ASSERT_EQ(trace.memory_segments.size(), 1u);
  const MemorySegment& segment = trace.memory_segments[0];
  EXPECT_EQ(segment.stream, 7u);
  EXPECT_EQ(trace.strings[segment.pool], "1.0");
  EXPECT_EQ(segment.is_large, 1);
  EXPECT_EQ(segment.is_expandable, 0);
  ASSERT_EQ(trace.memory_blocks.size(), 2u);
  EXPECT_EQ(trace.memory_blocks[0].state, BlockState::kAllocated);
  EXPECT_EQ(trace.memory_blocks[0].requested, 500);
  EXPECT_EQ(trace.memory_blocks[1].state, BlockState::kInactive);
}

TEST_F(MemoryRecords, begin_when_the_state_was_written_where_its_mark_is_lost) {
  log(1010, {kAllocate, 0x1000, 512});
  segment(1050, 0x1000, 4096);
  log(1060, {kAllocate, 0x1200, 512});
  const Trace trace = this->trace();
  ASSERT_EQ(trace.allocator_events.size(), 1u);
  EXPECT_EQ(trace.allocator_events[0].address, 0x1200u);
}

TEST_F(MemoryRecords, fill_segments_whose_parts_are_lost_or_do_not_fit) {
  segment(1050, 0x1000, 0x1000);
  block(1051, 0x1000, 0x1200, 0x200, 0x180, 1);
  block(1052, 0x1000, 0x1300, 0x200, 0x180, 1);   // overlaps
  block(1053, 0x1000, 0x1800, 0x1000, 0x180, 1);  // reaches beyond
  block(1054, 0x1000, 0x0800, 0x200, 0x180, 1);   // stands before
  block(1055, 0x7000, 0x7000, 0x200, 0x180, 1);   // of no segment
  segment(1060, 0x5000, 0x800);
  const Trace trace = this->trace();
  ASSERT_EQ(trace.memory_segments.size(), 2u);
  std::int64_t sums[2] = {0, 0};
  std::uint64_t next = 0;
  for (const MemoryBlock& block : trace.memory_blocks) {
    if (sums[block.segment] == 0) next = trace.memory_segments[block.segment].address;
    EXPECT_EQ(block.address, next);
    next = block.address + static_cast<std::uint64_t>(block.bytes);
    sums[block.segment] += block.bytes;
  }
  EXPECT_EQ(sums[0], 0x1000);
  EXPECT_EQ(sums[1], 0x800);
  ASSERT_EQ(trace.memory_blocks.size(), 4u);
  EXPECT_EQ(trace.memory_blocks[1].state, BlockState::kAllocated);
}

TEST_F(MemoryRecords, tell_what_tensors_are) {
  records_.instant(
      noted_, 1100,
      zigzagged(0x1000) + zigzagged(400) + zigzagged(-1) + varint(text("parameter")) + varint(text("layers.0.weight")));
  const Trace trace = this->trace();
  ASSERT_EQ(trace.noted_tensors.size(), 1u);
  const NotedTensor& noted = trace.noted_tensors[0];
  EXPECT_EQ(noted.address, 0x1000u);
  EXPECT_EQ(noted.bytes, 400);
  EXPECT_EQ(noted.device, kHost);
  EXPECT_EQ(trace.strings[noted.role], "parameter");
  EXPECT_EQ(trace.strings[noted.name], "layers.0.weight");
  EXPECT_EQ(trace.events.size(), 0u);
}

TEST_F(MemoryRecords, with_impossible_numbers_are_counted_as_lost) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max(), kLeast = std::numeric_limits<std::int64_t>::min();
  log(1010, {10, 0x1000, 512});
  log(1011, {-1, 0x1000, 512});
  log(1012, {kAllocate, 0x1000, kMost});
  log(1013, {kAllocate, 0x1000, kLeast});
  log(1014, {kAllocate, 0x1000, 512, kMost});
  block(1015, 0x1000, 0x1200, 0x200, kLeast, 1);
  block(1016, 0x1000, 0x1200, 0x200, 0, 3);
  log(1017, {kAllocate, kLeast, 512});
  const Trace trace = this->trace();
  EXPECT_EQ(trace.anomalies.count(Anomaly::kNumberOutOfRange), 7u);
  ASSERT_EQ(trace.allocator_events.size(), 1u);
  EXPECT_EQ(trace.memory.size(), 1u);
}

TEST_F(MemoryRecords, of_sites_with_other_fields_are_marks) {
  const auto other = sketch_.site("allocator event", {"", "", "", 0, kOther, {{"Action", kInteger}}});
  records_.instant(other, 1010, zigzagged(0));
  const Trace trace = this->trace();
  EXPECT_EQ(trace.allocator_events.size(), 0u);
  EXPECT_EQ(trace.events.size(), 1u);
}

}  // namespace
}  // namespace telltale::tell
