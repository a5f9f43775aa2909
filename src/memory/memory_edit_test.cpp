// Blocks drawn by hand, with their peaks worked out beside them.
#include "memory/memory_edit.h"

#include <gtest/gtest.h>

#include "memory/memory_what_if.h"

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

// 100 from 0 to 100, 50 from 10 to 90, 80 from 20 to 30: 230 at 20.
std::vector<UsedBlock> three_blocks() {
  return {{.address = 1, .bytes = 100, .allocated = 0, .freed = 100},
          {.address = 2, .bytes = 50, .allocated = 10, .freed = 90},
          {.address = 3, .bytes = 80, .allocated = 20, .freed = 30}};
}

TEST(EditedPeak, is_that_of_the_blocks_without_an_edit) {
  const EditedPeak peak = edited_peak(three_blocks(), {}, 7);
  EXPECT_EQ(peak.allocated, 237);
  EXPECT_EQ(peak.time, 20);
  EXPECT_EQ(peak.made, 2);
  EXPECT_FALSE(peak.first_over);
}

TEST(EditedPeak, moves_where_less_is_taken_away_than_the_next_peak_has) {
  const std::vector<UsedBlock> blocks = three_blocks();
  MemoryEdit gone;
  gone.scale(blocks[2], 0);
  EXPECT_EQ(edited_peak(blocks, gone).allocated, 150);
  MemoryEdit half;
  half.scale(blocks[2], 0.5);
  EXPECT_EQ(edited_peak(blocks, half).allocated, 190);
}

TEST(EditedPeak, leaves_out_blocks_that_are_away) {
  const std::vector<UsedBlock> blocks = three_blocks();
  MemoryEdit edit;
  edit.send_away(blocks[1], {15, 40});
  EXPECT_EQ(edited_peak(blocks, edit).allocated, 180);
  edit.send_away(blocks[0], {5, 25});  // back at 25, beside 80
  EXPECT_EQ(edited_peak(blocks, edit).allocated, 180);
  edit.send_away(blocks[0], {20, 35});
  EXPECT_EQ(edited_peak(blocks, edit).allocated, 150);  // both, from 40 on
}

TEST(EditedPeak, counts_what_is_made_earlier) {
  std::vector<UsedBlock> blocks = three_blocks();
  blocks.push_back({.address = 4, .bytes = 40, .allocated = 50, .freed = 60});
  MemoryEdit edit;
  edit.make_earlier(blocks[3], 25);
  EXPECT_EQ(edited_peak(blocks, edit).allocated, 270);
  edit.scale(blocks[3], 0.5);
  EXPECT_EQ(edited_peak(blocks, edit).allocated, 250);
}

TEST(EditedPeak, names_the_first_block_that_is_too_much) {
  const std::vector<UsedBlock> blocks = three_blocks();
  const EditedPeak peak = edited_peak(blocks, {}, 0, 200);
  ASSERT_EQ(peak.first_over, 2);
  EXPECT_EQ(peak.allocated_before_first_over, 150);
  EXPECT_FALSE(edited_peak(blocks, {}, 0, 230).first_over);
}

TEST(JoinedEdits, multiply_factors_and_unite_absences) {
  const std::vector<UsedBlock> blocks = three_blocks();
  MemoryEdit a, b;
  a.scale(blocks[0], 0.5);
  b.scale(blocks[0], 0.5);
  b.settings = "expandable_segments:True";
  const MemoryEdit both = joined(std::vector{a, b});
  ASSERT_EQ(both.blocks.size(), 1);
  EXPECT_EQ(both.blocks[0].scale, 0.25);
  EXPECT_EQ(both.settings, "expandable_segments:True");
  EXPECT_EQ(edited_peak(blocks, both).allocated, 155);
}

// 40 MiB of weights that stay, and in each of three steps 60 MiB of activations, an entry a nanosecond.
Trace program() {
  Trace trace;
  const auto add = [&](AllocatorAction action, std::uint64_t address, std::int64_t mebibytes) {
    trace.allocator_events.push_back({.time = static_cast<Nanoseconds>(trace.allocator_events.size()),
                                      .address = address,
                                      .bytes = mebibytes * kMiB,
                                      .action = action});
  };
  add(AllocatorAction::kSegmentAllocate, kBase, 40);
  add(AllocatorAction::kAllocate, kBase, 40);
  add(AllocatorAction::kSegmentAllocate, 2 * kBase, 60);
  for (int step = 0; step < 3; ++step) {
    add(AllocatorAction::kAllocate, 2 * kBase, 60);
    add(AllocatorAction::kFreeRequested, 2 * kBase, 60);
    add(AllocatorAction::kFreeCompleted, 2 * kBase, 60);
  }
  return trace;
}

constexpr UsedBlock kWeights{.address = kBase, .bytes = 40 * kMiB, .allocated = 1};
UsedBlock activations(int step) {
  return {.address = 2 * kBase, .bytes = 60 * kMiB, .allocated = 3 + 3 * step, .freed = 5 + 3 * step};
}

TEST(SimulatedEdit, scales_the_blocks_of_all_steps) {
  MemoryWhatIfChanges changes;
  for (int step = 0; step < 3; ++step) changes.edit.scale(activations(step), 0.5);
  const MemoryWhatIf found = memory_what_if(program(), 0, changes);
  EXPECT_EQ(found.before.peak_reserved, 100 * kMiB);
  EXPECT_EQ(found.high.peak_allocated, 70 * kMiB);
  EXPECT_EQ(found.high.peak_reserved, 70 * kMiB);
  changes.edit = {};
  changes.edit.scale(activations(0), 0.5);  // the others are as large as ever
  EXPECT_EQ(memory_what_if(program(), 0, changes).high.peak_allocated, 100 * kMiB);
}

TEST(SimulatedEdit, frees_a_block_for_a_while_and_makes_it_again) {
  MemoryWhatIfChanges changes;
  changes.edit.send_away(kWeights, {3, 6});  // while the first activations are there
  changes.edit.scale(activations(1), 0);
  changes.edit.scale(activations(2), 0);
  EXPECT_EQ(memory_what_if(program(), 0, changes).high.peak_allocated, 60 * kMiB);
  changes.edit = {};
  changes.edit.send_away(kWeights, {3, 6});
  EXPECT_EQ(memory_what_if(program(), 0, changes).high.peak_allocated, 100 * kMiB);  // in the second step
  changes.edit = {};
  changes.edit.send_away(kWeights, {3});
  EXPECT_EQ(memory_what_if(program(), 0, changes).high.peak_allocated, 60 * kMiB);
  changes.capacity = 100 * kMiB - 1;  // the 40 that are free go back to the device
  EXPECT_EQ(memory_what_if(program(), 0, changes).verdict(), MemoryWhatIf::Verdict::kFits);
}

TEST(SimulatedEdit, makes_a_block_earlier) {
  MemoryWhatIfChanges changes;
  changes.edit.make_earlier(activations(1), 3);  // beside those of the first step
  EXPECT_EQ(memory_what_if(program(), 0, changes).high.peak_allocated, 160 * kMiB);
  changes.edit.scale(activations(1), 0.5);
  EXPECT_EQ(memory_what_if(program(), 0, changes).high.peak_allocated, 130 * kMiB);
}

TEST(WalkedWhatIf, gives_a_range_of_what_is_reserved) {
  DeviceMemory device{.device = 0, .peak = {.allocated = 240}, .peak_reserved = 300};  // 10 of before, 60 unused
  const std::vector<UsedBlock> blocks = three_blocks();
  MemoryWhatIfChanges changes{.capacity = 200};
  changes.edit.scale(blocks[2], 0);
  const MemoryWhatIf found = walked_what_if({}, device, blocks, changes);
  EXPECT_FALSE(found.is_simulated);
  EXPECT_EQ(found.before.peak_reserved, 300);
  EXPECT_EQ(found.low.peak_allocated, 160);
  EXPECT_EQ(found.low.peak_reserved, 160);
  EXPECT_EQ(found.high.peak_reserved, 220);
  EXPECT_EQ(found.verdict(), MemoryWhatIf::Verdict::kMayFit);
  changes.capacity = 220;
  EXPECT_EQ(walked_what_if({}, device, blocks, changes).verdict(), MemoryWhatIf::Verdict::kFits);
  changes.capacity = 159;
  const MemoryWhatIf tight = walked_what_if({}, device, blocks, changes);
  EXPECT_EQ(tight.verdict(), MemoryWhatIf::Verdict::kFails);
  ASSERT_TRUE(tight.low.failure);
  EXPECT_EQ(tight.low.failure->requested, 50);
  EXPECT_EQ(tight.low.failure->allocated, 110);
}

}  // namespace
}  // namespace telltale
