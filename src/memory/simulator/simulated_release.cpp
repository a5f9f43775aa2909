// How a simulated allocator gives memory back to the device, and takes over what a recorded one held.
#include <algorithm>
#include <iterator>

#include "memory/simulator/simulated_allocator.h"
#include "memory/simulator/simulated_blocks.h"

namespace telltale {

void SimulatedAllocator::empty_cache() { release_cached(); }

void SimulatedAllocator::release_cached() {
  for (const Held held : std::exchange(awaiting_, {})) complete_free(held);
  for (auto& [key, pool] : pools_)
    if (pool.owner == kEmptyString || released_pools_.contains(pool.owner)) release_all_of(pool);
}

// All free blocks that are whole segments, and all whole free pages of expandable ones.
void SimulatedAllocator::release_all_of(Pool& pool) {
  std::vector<BlockId> whole, expandable;
  for (const Pool::Key& key : pool.free) {
    const Block& block = blocks_[key.block];
    if (block.is_expandable)
      expandable.push_back(key.block);
    else if (block.prev == kNoBlock && block.next == kNoBlock)
      whole.push_back(key.block);
  }
  for (const BlockId id : whole) release(id);
  for (const BlockId id : expandable) unmap(id);
}

void SimulatedAllocator::release(BlockId id) {
  erase_free(id);
  totals_.reserved -= blocks_[id].bytes;
  blocks_[id].exists = false;
  recycle(id);
}

void SimulatedAllocator::unmap(BlockId id) {
  const Block whole = blocks_[id];
  const auto page = static_cast<std::uint64_t>(whole.pool->page());
  const std::uint64_t from = whole.base + (whole.address - whole.base + page - 1) / page * page;
  const std::uint64_t whole_end = whole.address + static_cast<std::uint64_t>(whole.bytes);
  const std::uint64_t to = whole.base + (whole_end - whole.base) / page * page;
  if (from >= to) return;
  erase_free(id);
  const auto part = [&](std::uint64_t start, std::uint64_t end) {
    Block piece = whole;
    piece.address = start;
    piece.bytes = static_cast<std::int64_t>(end - start);
    return new_block(piece);
  };
  if (from > whole.address) {
    const BlockId before = part(whole.address, from);
    splice_before(id, before);
    insert_free(before);
  }
  if (to < whole_end) {
    const BlockId after = part(to, whole_end);
    splice_after(id, after);
    insert_free(after);
  }
  Block& block = blocks_[id];
  block.address = from;
  block.bytes = static_cast<std::int64_t>(to - from);
  block.is_mapped = false;
  totals_.reserved -= block.bytes;
  merge(id, blocks_[id].prev);
  merge(id, blocks_[id].next);
  if (blocks_[id].prev == kNoBlock && blocks_[id].next == kNoBlock) {
    blocks_[id].exists = false;  // nothing of the segment is left
    recycle(id);
  } else {
    insert_free(id);
  }
}

// Above the threshold, whole segments of the large pool go that nobody wanted for longer than the average of them.
void SimulatedAllocator::collect_garbage() {
  const auto threshold =
      static_cast<std::int64_t>(settings_.garbage_collection_threshold * static_cast<double>(*limits_.allowed));
  if (totals_.reserved <= threshold) return;
  const std::int64_t target = totals_.reserved - threshold;
  std::vector<BlockId> freeable;
  std::int64_t total_age = 0;
  const auto age = [&](BlockId id) { return *blocks_[id].pool->searches - blocks_[id].inserted_at; };
  for (auto& [key, pool] : pools_) {
    if (pool.owner != kEmptyString || pool.is_small) continue;
    for (const Pool::Key& each : pool.free) {
      const Block& block = blocks_[each.block];
      if (block.prev != kNoBlock || block.next != kNoBlock || block.is_expandable) continue;
      freeable.push_back(each.block);
      total_age += age(each.block);
    }
  }
  for (std::int64_t reclaimed = 0; reclaimed < target && !freeable.empty();) {
    const double average = static_cast<double>(total_age) / static_cast<double>(freeable.size());
    std::erase_if(freeable, [&](BlockId id) {
      if (static_cast<double>(age(id)) < average) return false;
      reclaimed += blocks_[id].bytes;
      total_age -= age(id);
      release(id);
      return true;
    });
  }
}

// With a limit on splits: cached blocks above it, the one that fits or the largest, until enough is given back.
bool SimulatedAllocator::release_oversize(Pool& pool, std::int64_t size) {
  if (settings_.max_split_size == AllocatorSettings::kUnlimited) return false;
  const std::int64_t least = std::max(size, settings_.max_split_size);
  const auto gives_back = [&](BlockId id) {
    const Block& block = blocks_[id];
    return !block.is_expandable && block.prev == kNoBlock && block.next == kNoBlock;
  };
  const auto fitting = pool.free.lower_bound({least, 0, 0});
  if (fitting != pool.free.end()) {
    if (!gives_back(fitting->block)) return false;
    release(fitting->block);
    return true;
  }
  std::int64_t released = 0;
  while (released < least && !pool.free.empty()) {
    const Pool::Key largest = *pool.free.rbegin();
    if (largest.bytes < settings_.max_split_size || !gives_back(largest.block)) break;
    released += largest.bytes;
    release(largest.block);
  }
  return released >= least;
}

std::map<std::uint64_t, SimulatedAllocator::Held> SimulatedAllocator::adopt(const AllocatorWalk& state) {
  std::map<std::uint64_t, Held> live;
  std::map<PoolKey, BlockId> last_of;  // of the expandable segments
  for (const auto& [address, segment] : state.segments()) {
    BlockId none = kNoBlock;
    const PoolKey key{segment.pool, !segment.is_large, segment.stream};
    BlockId& last = segment.is_expandable ? last_of.try_emplace(key, kNoBlock).first->second : none;
    adopt_segment(segment, state, last, live);
    const std::uint64_t after = segment.end() + static_cast<std::uint64_t>(limits_.address_space);
    const auto page = static_cast<std::uint64_t>(kLargeSegment);
    next_address_ = std::max(next_address_, (after / page + 1) * page);
    lowest_segment_ = std::min(lowest_segment_, address / page * page);
  }
  // Behind what an expandable segment has is room to grow.
  for (const auto& [key, last] : last_of) {
    Block room = blocks_[last];
    room.address += static_cast<std::uint64_t>(room.bytes);
    const auto page = static_cast<std::uint64_t>(room.pool->page());
    if ((room.address - room.base) % page != 0) continue;
    const auto used = static_cast<std::int64_t>(room.address - room.base);
    if (used >= limits_.address_space) continue;
    room.bytes = (limits_.address_space - used) / room.pool->page() * room.pool->page();
    room.requested = 0;
    room.state = BlockState::kInactive;
    room.is_mapped = false;
    room.next = kNoBlock;
    const BlockId added = new_block(room);
    splice_after(last, added);
    insert_free(added);
  }
  return live;
}

// `last`: the block that an expandable segment ends with so far; what is recorded as several segments is one with
// pages missing between them.
void SimulatedAllocator::adopt_segment(const WalkedSegment& segment, const AllocatorWalk& state, BlockId& last,
                                       std::map<std::uint64_t, Held>& live) {
  Pool& pool = pool_of(segment.pool, !segment.is_large, segment.stream);
  std::uint64_t base = segment.address;
  BlockId previous = kNoBlock;
  if (last != kNoBlock) {
    const Block& before = blocks_[last];
    const std::uint64_t end = before.address + static_cast<std::uint64_t>(before.bytes);
    const auto page = static_cast<std::uint64_t>(pool.page());
    const bool continues = segment.end() - before.base < static_cast<std::uint64_t>(limits_.address_space) &&
                           (segment.address - before.base) % page == 0 && (end - before.base) % page == 0;
    if (continues && segment.address > end) {
      base = before.base;
      previous = new_block({.address = end,
                            .bytes = static_cast<std::int64_t>(segment.address - end),
                            .pool = &pool,
                            .base = base,
                            .is_mapped = false,
                            .is_expandable = true});
      splice_after(last, previous);
      insert_free(previous);
    }
  }
  totals_.reserved += segment.bytes;
  for (auto it = state.blocks().find(segment.address); it != state.blocks().end() && it->first < segment.end(); ++it) {
    const WalkedBlock& from = it->second;
    const BlockId id = new_block({.address = from.address,
                                  .bytes = from.bytes,
                                  .requested = from.requested,
                                  .pool = &pool,
                                  .base = base,
                                  .state = from.state,
                                  .is_expandable = segment.is_expandable});
    if (previous != kNoBlock) splice_after(previous, id);
    previous = id;
    if (!from.is_live()) {
      insert_free(id);
      continue;
    }
    const Held held{id, ++blocks_[id].serial};
    live.emplace(from.address, held);
    totals_.active += from.bytes;
    totals_.requested += from.requested;
    if (from.state == BlockState::kAllocated)
      totals_.allocated += from.bytes;
    else
      awaiting_.push_back(held);
  }
  last = previous;
}

}  // namespace telltale
