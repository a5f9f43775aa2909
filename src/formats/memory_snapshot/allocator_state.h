// What PyTorch's allocator holds on one device: segments, and the blocks that fill them. Entries of its log can be
// applied to it, and taken back.
//
// What does not fit the state changes nothing and is told to the caller. Used by one thread; each step takes
// logarithmic time.
#pragma once

#include <cstdint>
#include <map>

#include "formats/memory_snapshot/block_rules.h"
#include "trace/allocator_log.h"

namespace telltale::memory_snapshot {

struct HeldBlock {
  std::int64_t bytes = 0;
  std::int64_t requested = 0;
  StringId call_stack = kEmptyString;
  BlockState state = BlockState::kInactive;
  bool is_guessed = false;  // its size follows from rules, not from a file
};

class AllocatorState {
 public:
  explicit AllocatorState(const BlockRules& rules) : rules_(rules) {}

  // False where it overlaps another one. It is free memory until blocks are taken from it.
  bool add_segment(const MemorySegment& segment);
  // A block as a file has it; false where it does not lie in free memory of one segment.
  bool add_block(std::uint64_t address, const HeldBlock& block);

  struct Step {
    bool fits = true;
    std::int64_t block_bytes = 0;  // of the block that was allocated or freed
  };
  // From the state after an entry to that before it.
  Step undo(const AllocatorEvent& entry);
  // From the state before an entry to that after it. `block_bytes` is the size of what it allocates; 0: not known.
  Step redo(const AllocatorEvent& entry, std::int64_t block_bytes);

  const std::map<std::uint64_t, MemorySegment>& segments() const { return segments_; }
  const std::map<std::uint64_t, HeldBlock>& blocks() const { return blocks_; }

 private:
  using Segments = std::map<std::uint64_t, MemorySegment>;
  using Blocks = std::map<std::uint64_t, HeldBlock>;

  Segments::iterator segment_around(std::uint64_t address);
  Blocks::iterator free_block_around(std::uint64_t address);
  bool splits_finely(const MemorySegment& segment) const { return !segment.is_large || segment.is_expandable; }

  Step take(const AllocatorEvent& entry, BlockState state, std::int64_t block_bytes, StringId call_stack);
  Step give_back(std::uint64_t address);
  Step change(std::uint64_t address, BlockState from, BlockState to);
  void give_rest_to_guess_before(const MemorySegment& segment, Blocks::iterator free, std::uint64_t address);
  Blocks::iterator carve(Blocks::iterator free, std::uint64_t address, std::int64_t bytes);
  void merge_free(const MemorySegment& segment, Blocks::iterator block);
  Step add_range(const AllocatorEvent& entry, bool is_expandable);
  Step remove_range(const AllocatorEvent& entry, bool is_expandable);
  void join(Segments::iterator left);

  BlockRules rules_;
  Segments segments_;  // by address
  Blocks blocks_;      // likewise; those of a segment touch and fill it
};

}  // namespace telltale::memory_snapshot
