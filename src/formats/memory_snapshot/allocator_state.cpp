#include "formats/memory_snapshot/allocator_state.h"

#include <iterator>

namespace telltale::memory_snapshot {
namespace {

std::uint64_t end_of(const MemorySegment& segment) {
  return segment.address + static_cast<std::uint64_t>(segment.bytes);
}

std::uint64_t end_of(const std::pair<const std::uint64_t, HeldBlock>& block) {
  return block.first + static_cast<std::uint64_t>(block.second.bytes);
}

constexpr AllocatorState::Step kDoesNotFit{false, 0};

}  // namespace

AllocatorState::Segments::iterator AllocatorState::segment_around(std::uint64_t address) {
  auto after = segments_.upper_bound(address);
  if (after == segments_.begin()) return segments_.end();
  --after;
  return address < end_of(after->second) ? after : segments_.end();
}

AllocatorState::Blocks::iterator AllocatorState::free_block_around(std::uint64_t address) {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return blocks_.end();
  --after;
  return address < end_of(*after) && after->second.state == BlockState::kInactive ? after : blocks_.end();
}

bool AllocatorState::add_segment(const MemorySegment& segment) {
  const auto after = segments_.lower_bound(segment.address);
  if (after != segments_.end() && after->first < end_of(segment)) return false;
  if (after != segments_.begin() && end_of(std::prev(after)->second) > segment.address) return false;
  segments_.emplace_hint(after, segment.address, segment);
  blocks_[segment.address] = {.bytes = segment.bytes};
  return true;
}

bool AllocatorState::add_block(std::uint64_t address, const HeldBlock& block) {
  const auto free = free_block_around(address);
  if (free == blocks_.end() || address + static_cast<std::uint64_t>(block.bytes) > end_of(*free)) return false;
  carve(free, address, block.bytes)->second = block;
  return true;
}

// Makes a block of its own of a part of a free one. It is free still.
AllocatorState::Blocks::iterator AllocatorState::carve(Blocks::iterator free, std::uint64_t address,
                                                       std::int64_t bytes) {
  const std::uint64_t end = end_of(*free), carved_end = address + static_cast<std::uint64_t>(bytes);
  if (carved_end < end) blocks_[carved_end] = {.bytes = static_cast<std::int64_t>(end - carved_end)};
  if (address > free->first) {
    free->second.bytes = static_cast<std::int64_t>(address - free->first);
    free = blocks_.emplace(address, HeldBlock{}).first;
  }
  free->second.bytes = bytes;
  return free;
}

void AllocatorState::merge_free(const MemorySegment& segment, Blocks::iterator block) {
  const auto next = std::next(block);
  if (next != blocks_.end() && next->first < end_of(segment) && next->second.state == BlockState::kInactive) {
    block->second.bytes += next->second.bytes;
    blocks_.erase(next);
  }
  if (block->first == segment.address) return;
  const auto before = std::prev(block);
  if (before->second.state != BlockState::kInactive) return;
  before->second.bytes += block->second.bytes;
  blocks_.erase(block);
}

// The allocator leaves no free block so small: what lies between a block of guessed size and this address is the end of
// that block.
void AllocatorState::give_rest_to_guess_before(const MemorySegment& segment, Blocks::iterator free,
                                               std::uint64_t address) {
  if (free->first == address || free->first == segment.address) return;
  const auto rest = static_cast<std::int64_t>(address - free->first);
  const auto before = std::prev(free);
  if (!before->second.is_guessed || rest >= smallest_rest(splits_finely(segment))) return;
  before->second.bytes += rest;
  const HeldBlock remaining{.bytes = free->second.bytes - rest};
  blocks_.erase(free);
  blocks_[address] = remaining;
}

AllocatorState::Step AllocatorState::take(const AllocatorEvent& entry, BlockState state, std::int64_t known_bytes,
                                          StringId call_stack) {
  const auto segment = segment_around(entry.address);
  auto free = free_block_around(entry.address);
  if (segment == segments_.end() || free == blocks_.end()) return kDoesNotFit;
  if (known_bytes == 0) {
    give_rest_to_guess_before(segment->second, free, entry.address);
    free = free_block_around(entry.address);
  }
  const auto available = static_cast<std::int64_t>(end_of(*free) - entry.address);
  const bool is_known = known_bytes > 0 && known_bytes <= available;
  if (!is_known && entry.bytes > available) return kDoesNotFit;
  const std::int64_t bytes =
      is_known ? known_bytes : block_bytes(rules_, splits_finely(segment->second), entry.bytes, available);
  carve(free, entry.address, bytes)->second = {
      .bytes = bytes, .requested = entry.bytes, .call_stack = call_stack, .state = state, .is_guessed = !is_known};
  return {true, bytes};
}

AllocatorState::Step AllocatorState::give_back(std::uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end() || block->second.state == BlockState::kInactive) return kDoesNotFit;
  const std::int64_t bytes = block->second.bytes;
  block->second = {.bytes = bytes};
  merge_free(segment_around(address)->second, block);
  return {true, bytes};
}

AllocatorState::Step AllocatorState::change(std::uint64_t address, BlockState from, BlockState to) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end() || block->second.state != from) return kDoesNotFit;
  block->second.state = to;
  return {true, block->second.bytes};
}

// Parts of an expandable segment that touch are one segment.
void AllocatorState::join(Segments::iterator left) {
  const auto right = std::next(left);
  if (right == segments_.end() || end_of(left->second) != right->first) return;
  const MemorySegment &a = left->second, &b = right->second;
  if (!a.is_expandable || !b.is_expandable || a.stream != b.stream || a.pool != b.pool) return;
  const std::uint64_t seam = right->first;
  left->second.bytes += right->second.bytes;
  segments_.erase(right);
  const auto block = blocks_.find(seam);
  if (block->second.state == BlockState::kInactive) merge_free(left->second, block);
}

AllocatorState::Step AllocatorState::add_range(const AllocatorEvent& entry, bool is_expandable) {
  MemorySegment segment{.address = entry.address,
                        .bytes = entry.bytes,
                        .stream = entry.stream,
                        .device = entry.device,
                        .pool = entry.pool,
                        .call_stack = entry.call_stack,
                        .is_large = entry.bytes > kSmallSegment,
                        .is_expandable = is_expandable};
  if (entry.bytes <= 0) return kDoesNotFit;
  if (const auto before = segment_around(entry.address - 1); is_expandable && before != segments_.end())
    segment.is_large = before->second.is_large;
  if (!add_segment(segment)) return kDoesNotFit;
  const auto added = segments_.find(entry.address);
  join(added);
  if (added != segments_.begin()) join(std::prev(added));
  return {};
}

AllocatorState::Step AllocatorState::remove_range(const AllocatorEvent& entry, bool is_expandable) {
  const auto found = segment_around(entry.address);
  if (found == segments_.end() || entry.bytes <= 0) return kDoesNotFit;
  const MemorySegment segment = found->second;
  const std::uint64_t end = entry.address + static_cast<std::uint64_t>(entry.bytes);
  if (!is_expandable && (entry.address != segment.address || entry.bytes != segment.bytes)) return kDoesNotFit;
  const auto free = free_block_around(entry.address);
  if (free == blocks_.end() || end > end_of(*free)) return kDoesNotFit;
  blocks_.erase(carve(free, entry.address, entry.bytes));
  segments_.erase(found);
  if (entry.address > segment.address) {
    MemorySegment left = segment;
    left.bytes = static_cast<std::int64_t>(entry.address - segment.address);
    segments_[left.address] = left;
  }
  if (end < end_of(segment)) {
    MemorySegment right = segment;
    right.address = end;
    right.bytes = static_cast<std::int64_t>(end_of(segment) - end);
    segments_[right.address] = right;
  }
  return {};
}

AllocatorState::Step AllocatorState::undo(const AllocatorEvent& entry) {
  switch (entry.action) {
    case AllocatorAction::kAllocate:
      return give_back(entry.address);
    case AllocatorAction::kFreeRequested: {
      const Step waiting = change(entry.address, BlockState::kAwaitingFree, BlockState::kAllocated);
      return waiting.fits ? waiting : take(entry, BlockState::kAllocated, 0, kEmptyString);
    }
    case AllocatorAction::kFreeCompleted:
      return take(entry, BlockState::kAwaitingFree, 0, kEmptyString);
    case AllocatorAction::kSegmentAllocate:
      return remove_range(entry, false);
    case AllocatorAction::kSegmentFree:
      return add_range(entry, false);
    case AllocatorAction::kSegmentMap:
      return remove_range(entry, true);
    case AllocatorAction::kSegmentUnmap:
      return add_range(entry, true);
    case AllocatorAction::kOutOfMemory:
    case AllocatorAction::kSnapshot:
      break;
  }
  return {};
}

AllocatorState::Step AllocatorState::redo(const AllocatorEvent& entry, std::int64_t block_bytes) {
  switch (entry.action) {
    case AllocatorAction::kAllocate:
      return take(entry, BlockState::kAllocated, block_bytes, entry.call_stack);
    case AllocatorAction::kFreeRequested:
      return change(entry.address, BlockState::kAllocated, BlockState::kAwaitingFree);
    case AllocatorAction::kFreeCompleted:
      return give_back(entry.address);
    case AllocatorAction::kSegmentAllocate:
      return add_range(entry, false);
    case AllocatorAction::kSegmentFree:
      return remove_range(entry, false);
    case AllocatorAction::kSegmentMap:
      return add_range(entry, true);
    case AllocatorAction::kSegmentUnmap:
      return remove_range(entry, true);
    case AllocatorAction::kOutOfMemory:
    case AllocatorAction::kSnapshot:
      break;
  }
  return {};
}

}  // namespace telltale::memory_snapshot
