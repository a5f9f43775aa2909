// The log of a device's caching allocator, replayed over what the allocator held when the log begins: which segments
// and blocks there are after each entry, and how many bytes.
//
//     AllocatorWalk walk(trace, device);
//     while (walk.apply_next())
//       if (walk.totals().reserved > most) …          // walk.entry() is the row of Trace::allocator_events
//     for (const auto& [address, block] : walk.blocks())
//       if (block.is_live()) …
//
// The log says what was asked for; how large a block is follows from the allocator's rounding and splitting. An entry
// that contradicts what is there is counted and changes nothing. An entry costs the logarithm of the number of blocks.
// The trace must outlive the walk; a copy of a walk is a state to come back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "memory/allocator_settings.h"
#include "trace/trace.h"

namespace telltale {

inline constexpr std::size_t kNoAllocatorEntry = SIZE_MAX;

struct WalkedSegment {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t live = 0;  // bytes of its blocks that are not inactive
  std::uint64_t stream = 0;
  StringId pool = kEmptyString;
  StringId call_stack = kEmptyString;  // that made it or, where it can grow, its first part
  bool is_large = false;
  bool is_expandable = false;

  std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
};

struct WalkedBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested = 0;                    // 0 of inactive ones
  std::size_t allocated_by = kNoAllocatorEntry;  // row of Trace::allocator_events; none: before the log, or inactive
  StringId call_stack = kEmptyString;
  BlockState state = BlockState::kInactive;

  std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
  bool is_live() const { return state != BlockState::kInactive; }
};

// In bytes, as torch.cuda.memory_stats() counts them.
struct AllocatorTotals {
  std::int64_t allocated = 0;  // of blocks that the program holds
  std::int64_t active = 0;     // these, and blocks that await their free
  std::int64_t requested = 0;  // of the active ones, what was asked for
  std::int64_t reserved = 0;   // of segments

  bool operator==(const AllocatorTotals&) const = default;
};

// The devices that the log, or what was there before it, speaks of, by id.
std::vector<DeviceId> allocator_devices(const Trace& trace);

class AllocatorWalk {
 public:
  AllocatorWalk(const Trace& trace, DeviceId device);

  // Applies the device's next entry; false when there is none left.
  bool apply_next();
  // Applies all entries of the device up to and with that row of Trace::allocator_events.
  void apply_through(std::size_t row);

  // The row of Trace::allocator_events that was applied last; kNoAllocatorEntry before the first.
  std::size_t entry() const { return entry_; }
  // Whether that one was skipped because it contradicts what was there.
  bool was_skipped() const { return was_skipped_; }
  std::size_t contradictions() const { return contradictions_; }

  const AllocatorTotals& totals() const { return totals_; }
  const std::map<std::uint64_t, WalkedSegment>& segments() const { return segments_; }  // by address
  const std::map<std::uint64_t, WalkedBlock>& blocks() const { return blocks_; }  // by address; they fill segments

  // What that address lies in; null when that is nothing of the allocator's.
  const WalkedBlock* block_at(std::uint64_t address) const;
  const WalkedSegment* segment_at(std::uint64_t address) const;

  const AllocatorSettings& settings() const { return settings_; }

 private:
  using Segments = std::map<std::uint64_t, WalkedSegment>;
  using Blocks = std::map<std::uint64_t, WalkedBlock>;

  void take_segment(const MemorySegment& segment);
  void take_block(const MemoryBlock& block);
  bool apply(const AllocatorEvent& event);
  bool allocate(const AllocatorEvent& event);
  bool request_free(const AllocatorEvent& event);
  bool complete_free(const AllocatorEvent& event);
  bool add_segment(const AllocatorEvent& event);
  bool remove_range(const AllocatorEvent& event);

  Segments::iterator segment_around(std::uint64_t address);
  Blocks::iterator block_around(std::uint64_t address);
  bool is_vacant(std::uint64_t address, std::int64_t bytes);
  void carve(Blocks::iterator free, std::uint64_t address, std::int64_t bytes);
  void add_inactive(std::uint64_t address, std::int64_t bytes);
  void merge_with_neighbors(Blocks::iterator block);

  const Trace* trace_;
  DeviceId device_;
  AllocatorSettings settings_;
  Segments segments_;
  Blocks blocks_;
  AllocatorTotals totals_;
  std::size_t next_ = 0;
  std::size_t entry_ = kNoAllocatorEntry;
  std::size_t contradictions_ = 0;
  bool was_skipped_ = false;
};

}  // namespace telltale
