#include "formats/memory_snapshot/final_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telltale::memory_snapshot {
namespace {

// Sizes of blocks in the order in which they were allocated, on one device. Log and memory events come from the same
// calls, so that the next one is nearly always meant.
class BlockSizes {
 public:
  void add(std::uint64_t address, std::int64_t bytes) { sizes_.emplace_back(address, bytes); }

  // 0: not known.
  std::int64_t next(std::uint64_t address) {
    constexpr std::size_t kFarthest = 64;
    for (std::size_t i = next_; i < std::min(sizes_.size(), next_ + kFarthest); ++i) {
      if (sizes_[i].first != address) continue;
      next_ = i + 1;
      return sizes_[i].second;
    }
    return 0;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::int64_t>> sizes_;
  std::size_t next_ = 0;
};

}  // namespace

std::map<DeviceId, AllocatorState> final_states(const Trace& trace) {
  std::map<DeviceId, AllocatorState> states;
  const auto state_of = [&](DeviceId device) -> AllocatorState& {
    return states.try_emplace(device, BlockRules{}).first->second;
  };
  for (const MemorySegment& segment : trace.memory_segments) state_of(segment.device).add_segment(segment);
  for (const MemoryBlock& block : trace.memory_blocks) {
    if (block.state == BlockState::kInactive || block.segment >= trace.memory_segments.size()) continue;
    state_of(trace.memory_segments[block.segment].device)
        .add_block(
            block.address,
            {.bytes = block.bytes, .requested = block.requested, .call_stack = block.call_stack, .state = block.state});
  }
  std::map<DeviceId, BlockSizes> sizes;
  for (std::size_t i = 0; i < trace.memory.size(); ++i)
    if (trace.memory.bytes[i] > 0) sizes[trace.memory.device[i]].add(trace.memory.address[i], trace.memory.bytes[i]);
  for (const AllocatorEvent& entry : trace.allocator_events) {
    const bool allocates = entry.action == AllocatorAction::kAllocate;
    state_of(entry.device).redo(entry, allocates ? sizes[entry.device].next(entry.address) : 0);
  }
  return states;
}

}  // namespace telltale::memory_snapshot
