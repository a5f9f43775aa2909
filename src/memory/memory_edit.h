// What a fix does to the memory of a device: which of its blocks are smaller, away for some time, or there earlier, on
// which stream they are asked for, and what changes in the allocator's settings. And what the peak would be then.
//
// Blocks are named by where and when they were made, so that an edit holds for the allocator's log and for memory
// events alike. Pure and thread-safe; O(n log n) in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/memory_uses.h"
#include "memory/simulator/simulation.h"
#include "trace/trace.h"

namespace telltale {

// From when to when a block is not there, though the program had it: kNever where it does not come back.
struct Absence {
  Nanoseconds from = 0, until = UsedBlock::kNever;
};

struct BlockEdit {
  std::uint64_t address = 0;
  Nanoseconds allocated = UsedBlock::kBeforeTheTrace;
  double scale = 1;  // how many times its bytes; 0: it is never made
  std::vector<Absence> away;
  std::optional<Nanoseconds> there_since;  // before the program had it
};

struct MemoryEdit {
  std::vector<BlockEdit> blocks;
  std::string settings;                 // of the allocator, that change; as in PYTORCH_CUDA_ALLOC_CONF
  bool keeps_cache = false;             // the program no longer calls empty_cache()
  std::optional<std::uint64_t> stream;  // on which all is asked for

  void scale(const UsedBlock& block, double factor) {
    blocks.push_back({block.address, block.allocated, factor, {}, {}});
  }
  // Cut to the time for which the block is there.
  void send_away(const UsedBlock& block, Absence absence);
  void make_earlier(const UsedBlock& block, Nanoseconds time) {
    blocks.push_back({block.address, block.allocated, 1, {}, time});
  }
  bool is_empty() const { return blocks.empty() && settings.empty() && !keeps_cache && !stream; }
};

// All of them together: factors of one block multiply, it is away when any of them says so, and made when the first one
// says so.
MemoryEdit joined(std::span<const MemoryEdit> edits);

struct EditedPeak {
  std::int64_t allocated = 0;
  Nanoseconds time = 0;
  std::optional<std::size_t> made;  // which of the blocks was made then
  // The first block with which more than the limit is allocated, and what was allocated before it.
  std::optional<std::size_t> first_over;
  std::int64_t allocated_before_first_over = 0;
};

// The most that blocks take with the edit, beside `others`, which no block accounts for. What is over a limit is made
// all the same.
EditedPeak edited_peak(std::span<const UsedBlock> blocks, const MemoryEdit& edit, std::int64_t others = 0,
                       std::int64_t limit = INT64_MAX);

// The edit in the terms of the simulation. `scale` is by block, as SimulationOptions has it.
struct SimulatedEdit {
  std::vector<double> scale;
  std::vector<BlockAbsence> absences;  // by `from`
  std::vector<EarlyBlock> early;       // by `entry`
};
SimulatedEdit simulated_edit(const Trace& trace, const AllocatorRequests& requests, const MemoryEdit& edit);

}  // namespace telltale
