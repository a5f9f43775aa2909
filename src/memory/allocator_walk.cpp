#include "memory/allocator_walk.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace telltale {
namespace {

// Below it, so that no sum of sizes overflows.
constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << 62;

bool is_range(std::uint64_t address, std::int64_t bytes) {
  return bytes > 0 && address < kAddressEnd && static_cast<std::uint64_t>(bytes) <= kAddressEnd - address;
}

}  // namespace

std::vector<DeviceId> allocator_devices(const Trace& trace) {
  std::set<DeviceId> devices;
  for (const MemorySegment& segment : trace.memory_segments) devices.insert(segment.device);
  DeviceId last = kHost;
  for (const AllocatorEvent& event : trace.allocator_events) {
    if (event.device != last) devices.insert(event.device);
    last = event.device;
  }
  devices.erase(kHost);
  return {devices.begin(), devices.end()};
}

AllocatorWalk::AllocatorWalk(const Trace& trace, DeviceId device)
    : trace_(&trace), device_(device), settings_(recorded_allocator_settings(trace)) {
  for (const MemorySegment& segment : trace.memory_segments)
    if (segment.device == device) take_segment(segment);
  for (const MemoryBlock& block : trace.memory_blocks)
    if (block.segment < trace.memory_segments.size() && trace.memory_segments[block.segment].device == device)
      take_block(block);
}

void AllocatorWalk::take_segment(const MemorySegment& segment) {
  if (!is_range(segment.address, segment.bytes) || !is_vacant(segment.address, segment.bytes)) {
    ++contradictions_;
    return;
  }
  segments_.emplace(segment.address, WalkedSegment{.address = segment.address,
                                                   .bytes = segment.bytes,
                                                   .stream = segment.stream,
                                                   .pool = segment.pool,
                                                   .call_stack = segment.call_stack,
                                                   .is_large = segment.is_large != 0,
                                                   .is_expandable = segment.is_expandable != 0});
  totals_.reserved += segment.bytes;
  blocks_.emplace(segment.address, WalkedBlock{.address = segment.address, .bytes = segment.bytes});
}

void AllocatorWalk::take_block(const MemoryBlock& block) {
  if (block.state == BlockState::kInactive) return;
  const auto at = block_around(block.address);
  if (!is_range(block.address, block.bytes) || at == blocks_.end() || at->second.is_live() ||
      block.address + static_cast<std::uint64_t>(block.bytes) > at->second.end()) {
    ++contradictions_;
    return;
  }
  carve(at, block.address, block.bytes);
  WalkedBlock& taken = blocks_.at(block.address);
  taken.state = block.state;
  taken.requested = std::clamp<std::int64_t>(block.requested, 0, block.bytes);
  taken.call_stack = block.call_stack;
  segment_around(block.address)->second.live += taken.bytes;
  totals_.active += taken.bytes;
  totals_.requested += taken.requested;
  if (block.state == BlockState::kAllocated) totals_.allocated += taken.bytes;
}

bool AllocatorWalk::apply_next() {
  const std::vector<AllocatorEvent>& events = trace_->allocator_events;
  while (next_ < events.size() && events[next_].device != device_) ++next_;
  if (next_ == events.size()) return false;
  entry_ = next_++;
  was_skipped_ = !apply(events[entry_]);
  contradictions_ += was_skipped_;
  return true;
}

void AllocatorWalk::apply_through(std::size_t row) {
  const std::vector<AllocatorEvent>& events = trace_->allocator_events;
  for (;;) {
    while (next_ < events.size() && events[next_].device != device_) ++next_;
    if (next_ > row || !apply_next()) return;
  }
}

bool AllocatorWalk::apply(const AllocatorEvent& event) {
  switch (event.action) {
    case AllocatorAction::kAllocate:
      return allocate(event);
    case AllocatorAction::kFreeRequested:
      return request_free(event);
    case AllocatorAction::kFreeCompleted:
      return complete_free(event);
    case AllocatorAction::kSegmentAllocate:
    case AllocatorAction::kSegmentMap:
      return add_segment(event);
    case AllocatorAction::kSegmentFree:
    case AllocatorAction::kSegmentUnmap:
      return remove_range(event);
    case AllocatorAction::kOutOfMemory:
    case AllocatorAction::kSnapshot:
      return true;
  }
  return false;
}

bool AllocatorWalk::allocate(const AllocatorEvent& event) {
  const auto at = block_around(event.address);
  if (event.bytes <= 0 || at == blocks_.end() || at->second.is_live()) return false;
  const auto room = static_cast<std::int64_t>(at->second.end() - event.address);
  if (event.bytes > room) return false;
  WalkedSegment& segment = segment_around(event.address)->second;
  const std::int64_t rounded = std::min(rounded_request(event.bytes, settings_), room);
  // Where the recorded settings are not those that the entry was made under, the segment says more than they do.
  AllocatorSettings settings = settings_;
  settings.expandable_segments = segment.is_expandable;
  const bool splits = is_split(room, rounded, !segment.is_large, settings);
  carve(at, event.address, splits ? rounded : room);
  WalkedBlock& block = blocks_.at(event.address);
  block.requested = event.bytes;
  block.allocated_by = entry_;
  block.call_stack = event.call_stack;
  block.state = BlockState::kAllocated;
  segment.live += block.bytes;
  totals_.allocated += block.bytes;
  totals_.active += block.bytes;
  totals_.requested += block.requested;
  return true;
}

bool AllocatorWalk::request_free(const AllocatorEvent& event) {
  const auto at = blocks_.find(event.address);
  if (at == blocks_.end() || at->second.state != BlockState::kAllocated) return false;
  at->second.state = BlockState::kAwaitingFree;
  totals_.allocated -= at->second.bytes;
  return true;
}

bool AllocatorWalk::complete_free(const AllocatorEvent& event) {
  const auto at = blocks_.find(event.address);
  if (at == blocks_.end() || !at->second.is_live()) return false;
  WalkedBlock& block = at->second;
  if (block.state == BlockState::kAllocated) totals_.allocated -= block.bytes;  // its request was not recorded
  totals_.active -= block.bytes;
  totals_.requested -= block.requested;
  segment_around(block.address)->second.live -= block.bytes;
  block = {.address = block.address, .bytes = block.bytes};
  merge_with_neighbors(at);
  return true;
}

bool AllocatorWalk::add_segment(const AllocatorEvent& event) {
  if (!is_range(event.address, event.bytes) || !is_vacant(event.address, event.bytes)) return false;
  const bool is_expandable = event.action == AllocatorAction::kSegmentMap;
  totals_.reserved += event.bytes;
  const auto added = segments_
                         .emplace(event.address, WalkedSegment{.address = event.address,
                                                               .bytes = event.bytes,
                                                               .stream = event.stream,
                                                               .pool = event.pool,
                                                               .call_stack = event.call_stack,
                                                               .is_large = event.bytes > kSmallSegment,
                                                               .is_expandable = is_expandable})
                         .first;
  // What touches in address space is one segment that grew.
  const auto grows_into = [](const WalkedSegment& first, const WalkedSegment& second) {
    return first.is_expandable && second.is_expandable && first.end() == second.address &&
           first.stream == second.stream && first.pool == second.pool && first.is_large == second.is_large;
  };
  auto grown = added;
  if (added != segments_.begin() && grows_into(std::prev(added)->second, added->second)) {
    grown = std::prev(added);
    grown->second.bytes += added->second.bytes;
    segments_.erase(added);
  }
  if (const auto after = std::next(grown); after != segments_.end() && grows_into(grown->second, after->second)) {
    grown->second.bytes += after->second.bytes;
    grown->second.live += after->second.live;
    segments_.erase(after);
  }
  add_inactive(event.address, event.bytes);
  return true;
}

bool AllocatorWalk::remove_range(const AllocatorEvent& event) {
  if (!is_range(event.address, event.bytes)) return false;
  const std::uint64_t end = event.address + static_cast<std::uint64_t>(event.bytes);
  const auto block = block_around(event.address);
  if (block == blocks_.end() || block->second.is_live() || block->second.end() < end) return false;
  const auto at = segment_around(event.address);
  const WalkedSegment whole = at->second;
  const bool is_all = whole.address == event.address && whole.end() == end;
  if (!is_all && !whole.is_expandable) return false;
  carve(block, event.address, event.bytes);
  blocks_.erase(event.address);
  segments_.erase(at);
  totals_.reserved -= event.bytes;
  // What is left before and after it are two segments from now on.
  for (const auto& [from, to] : {std::pair{whole.address, event.address}, std::pair{end, whole.end()}}) {
    if (from == to) continue;
    WalkedSegment rest = whole;
    rest.address = from;
    rest.bytes = static_cast<std::int64_t>(to - from);
    segments_.emplace(from, rest);
  }
  if (!is_all && whole.live > 0 && event.address != whole.address && end != whole.end()) {
    WalkedSegment& front = segments_.at(whole.address);
    front.live = 0;
    for (auto it = blocks_.lower_bound(whole.address); it != blocks_.end() && it->first < event.address; ++it)
      if (it->second.is_live()) front.live += it->second.bytes;
    segments_.at(end).live = whole.live - front.live;
  }
  return true;
}

const WalkedBlock* AllocatorWalk::block_at(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const WalkedBlock& block = std::prev(after)->second;
  return address < block.end() ? &block : nullptr;
}

const WalkedSegment* AllocatorWalk::segment_at(std::uint64_t address) const {
  const auto after = segments_.upper_bound(address);
  if (after == segments_.begin()) return nullptr;
  const WalkedSegment& segment = std::prev(after)->second;
  return address < segment.end() ? &segment : nullptr;
}

AllocatorWalk::Segments::iterator AllocatorWalk::segment_around(std::uint64_t address) {
  const WalkedSegment* segment = segment_at(address);
  return segment == nullptr ? segments_.end() : segments_.find(segment->address);
}

AllocatorWalk::Blocks::iterator AllocatorWalk::block_around(std::uint64_t address) {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return blocks_.end();
  const auto block = std::prev(after);
  return address < block->second.end() ? block : blocks_.end();
}

bool AllocatorWalk::is_vacant(std::uint64_t address, std::int64_t bytes) {
  const auto after = segments_.lower_bound(address);
  if (after != segments_.end() && after->first < address + static_cast<std::uint64_t>(bytes)) return false;
  return after == segments_.begin() || std::prev(after)->second.end() <= address;
}

// Makes that part of a free block a block of its own.
void AllocatorWalk::carve(Blocks::iterator free, std::uint64_t address, std::int64_t bytes) {
  const std::uint64_t start = free->second.address, end = free->second.end();
  const std::uint64_t part_end = address + static_cast<std::uint64_t>(bytes);
  if (start < address) {
    free->second.bytes = static_cast<std::int64_t>(address - start);
    free = blocks_.emplace_hint(std::next(free), address, WalkedBlock{.address = address});
  }
  free->second.bytes = bytes;
  if (part_end < end)
    blocks_.emplace_hint(std::next(free), part_end,
                         WalkedBlock{.address = part_end, .bytes = static_cast<std::int64_t>(end - part_end)});
}

void AllocatorWalk::add_inactive(std::uint64_t address, std::int64_t bytes) {
  merge_with_neighbors(blocks_.emplace(address, WalkedBlock{.address = address, .bytes = bytes}).first);
}

void AllocatorWalk::merge_with_neighbors(Blocks::iterator block) {
  const WalkedSegment& segment = *segment_at(block->first);
  const auto merges = [&](Blocks::iterator first, Blocks::iterator second) {
    return !first->second.is_live() && !second->second.is_live() && first->second.end() == second->first &&
           first->first >= segment.address && second->first < segment.end();
  };
  if (const auto after = std::next(block); after != blocks_.end() && merges(block, after)) {
    block->second.bytes += after->second.bytes;
    blocks_.erase(after);
  }
  if (block != blocks_.begin())
    if (const auto before = std::prev(block); merges(before, block)) {
      before->second.bytes += block->second.bytes;
      blocks_.erase(block);
    }
}

}  // namespace telltale
