#include "memory/simulator/simulated_allocator.h"

#include <algorithm>
#include <iterator>

#include "memory/simulator/simulated_blocks.h"

namespace telltale {

SimulatedAllocator::SimulatedAllocator(const AllocatorSettings& settings, SimulatorLimits limits)
    : settings_(settings), limits_(limits), nodes_(std::make_unique<std::pmr::unsynchronized_pool_resource>()) {
  limits_.device = std::min(limits_.device, SimulatorLimits::kNone);
  limits_.address_space =
      (limits_.address_space + kLargeSegment - 1) / kLargeSegment * kLargeSegment;  // also whole small pages
}
SimulatedAllocator::~SimulatedAllocator() = default;
SimulatedAllocator::SimulatedAllocator(SimulatedAllocator&&) noexcept = default;

SimulatedAllocator::Pool& SimulatedAllocator::pool_of(StringId pool, bool is_small, std::uint64_t stream) {
  if (last_pool_ != nullptr && last_pool_->owner == pool && last_pool_->is_small == is_small &&
      last_pool_->stream == stream)
    return *last_pool_;
  const PoolKey key{pool, is_small, stream};
  auto found = pools_.find(key);
  if (found == pools_.end()) {
    std::int64_t& searches = searches_[{pool, is_small}];
    found = pools_
                .emplace(key, Pool{pool, is_small, stream, &searches, std::pmr::set<Pool::Key>(nodes_.get()),
                                   std::pmr::set<Pool::Key>(nodes_.get())})
                .first;
  }
  last_pool_ = &found->second;
  return found->second;
}

SimulatedAllocator::BlockId SimulatedAllocator::new_block(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  const BlockId id = unused_.back();
  unused_.pop_back();
  const std::uint32_t serial = blocks_[id].serial;
  blocks_[id] = block;
  blocks_[id].serial = serial;
  return id;
}

std::uint64_t SimulatedAllocator::take_addresses(std::int64_t bytes) {
  const std::uint64_t address = next_address_;
  const auto page = static_cast<std::uint64_t>(kLargeSegment);
  next_address_ += (static_cast<std::uint64_t>(bytes) + page - 1) / page * page;
  return address;
}

std::uint64_t SimulatedAllocator::place_segment(std::int64_t bytes) {
  if (!limits_.segments_descend) return take_addresses(bytes);
  const auto page = static_cast<std::uint64_t>(kLargeSegment);
  const std::uint64_t taken = (static_cast<std::uint64_t>(bytes) + page - 1) / page * page;
  if (lowest_segment_ < taken + page) lowest_segment_ = kTop;
  lowest_segment_ -= taken;
  return lowest_segment_;
}

void SimulatedAllocator::insert_free(BlockId id) {
  Block& block = blocks_[id];
  if (block.is_mapped) {
    block.inserted_at = *block.pool->searches;
    block.pool->free.insert({block.bytes, block.address, id});
  } else {
    block.pool->unmapped.insert({0, block.address, id});
  }
}

void SimulatedAllocator::erase_free(BlockId id) {
  const Block& block = blocks_[id];
  if (block.is_mapped)
    block.pool->free.erase({block.bytes, block.address, id});
  else
    block.pool->unmapped.erase({0, block.address, id});
}

bool SimulatedAllocator::is_available(BlockId id) const {
  return id != kNoBlock && blocks_[id].state == BlockState::kInactive;
}

// `into` stands in no list; `other` is its neighbor, or nothing.
void SimulatedAllocator::merge(BlockId into, BlockId other) {
  if (!is_available(other) || blocks_[other].is_mapped != blocks_[into].is_mapped) return;
  erase_free(other);
  Block& grown = blocks_[into];
  const Block& eaten = blocks_[other];
  grown.bytes += eaten.bytes;
  if (grown.prev == other) {
    grown.address = eaten.address;
    grown.prev = eaten.prev;
    if (grown.prev != kNoBlock) blocks_[grown.prev].next = into;
  } else {
    grown.next = eaten.next;
    if (grown.next != kNoBlock) blocks_[grown.next].prev = into;
  }
  blocks_[other].exists = false;
  recycle(other);
}

void SimulatedAllocator::splice_after(BlockId id, BlockId added) {
  const BlockId next = blocks_[id].next;
  blocks_[added].prev = id;
  blocks_[added].next = next;
  blocks_[id].next = added;
  if (next != kNoBlock) blocks_[next].prev = added;
}

void SimulatedAllocator::splice_before(BlockId id, BlockId added) {
  const BlockId prev = blocks_[id].prev;
  blocks_[added].prev = prev;
  blocks_[added].next = id;
  blocks_[id].prev = added;
  if (prev != kNoBlock) blocks_[prev].next = added;
}

SimulatedAllocator::Held SimulatedAllocator::allocate(std::int64_t requested, std::uint64_t stream, StringId owner) {
  if (requested <= 0 || requested > kMostRequested) return {};
  const std::int64_t size = rounded_request(requested, settings_);
  Pool& pool = pool_of(owner, size <= kMostSmall, stream);
  const bool collects = limits_.allowed && settings_.garbage_collection_threshold > 0;
  if (collects) ++*pool.searches;
  BlockId found = find_free(pool, size);
  if (found == kNoBlock) {
    if (collects) collect_garbage();
    found = take_segment(pool, size);
    if (found == kNoBlock && release_oversize(pool, size)) found = take_segment(pool, size);
    // A private pool is used while a graph is captured, when nothing can be waited for.
    if (found == kNoBlock && owner == kEmptyString) {
      ++retries_;
      release_cached();
      found = take_segment(pool, size);
    }
  }
  return found == kNoBlock ? Held{} : hand_out(pool, found, size, requested);
}

// The smallest cached block that is large enough, taken out of its list.
SimulatedAllocator::BlockId SimulatedAllocator::find_free(Pool& pool, std::int64_t size) {
  auto at = pool.free.lower_bound({size, 0, 0});
  if (at == pool.free.end()) return kNoBlock;
  if (blocks_[at->block].is_expandable) {
    if (settings_.expandable_segments) {
      // A block at the end of what is mapped counts with what it can grow by: it is kept for larger requests.
      const auto reach = [&](BlockId id) {
        const Block& block = blocks_[id];
        const bool can_grow = block.next != kNoBlock && !blocks_[block.next].is_mapped;
        return block.bytes + (can_grow ? blocks_[block.next].bytes : 0);
      };
      for (auto next = std::next(at);
           blocks_[at->block].is_expandable && next != pool.free.end() && reach(next->block) < reach(at->block); ++next)
        at = next;
    } else {
      while (at != pool.free.end() && blocks_[at->block].is_expandable) ++at;
      if (at == pool.free.end()) return kNoBlock;
    }
  }
  if (size < settings_.max_split_size && at->bytes >= settings_.max_split_size) return kNoBlock;
  if (size >= settings_.max_split_size && at->bytes >= size + settings_.max_non_split_rounding) return kNoBlock;
  const BlockId found = at->block;
  pool.free.erase(at);
  return found;
}

SimulatedAllocator::BlockId SimulatedAllocator::take_segment(Pool& pool, std::int64_t size) {
  const std::int64_t segment = segment_size_for(size);
  if (limits_.allowed && totals_.reserved + segment > *limits_.allowed) return kNoBlock;
  if (settings_.expandable_segments) return expand(pool, size);
  if (totals_.reserved + segment > limits_.device) return kNoBlock;
  totals_.reserved += segment;
  return new_block({.address = place_segment(segment), .bytes = segment, .pool = &pool});
}

// The lowest place of an expandable segment with that much free or not yet mapped; a new one where there is none.
SimulatedAllocator::BlockId SimulatedAllocator::expandable_room(Pool& pool, std::int64_t size) {
  for (const Pool::Key& key : pool.unmapped) {
    BlockId start = key.block;
    if (is_available(blocks_[start].prev)) start = blocks_[start].prev;
    std::int64_t room = 0;
    for (BlockId id = start; room < size && is_available(id); id = blocks_[id].next) room += blocks_[id].bytes;
    if (room >= size) return start;
  }
  if (size > limits_.address_space) return kNoBlock;
  const std::uint64_t address = take_addresses(limits_.address_space);
  const BlockId made = new_block({.address = address,
                                  .bytes = limits_.address_space,
                                  .pool = &pool,
                                  .base = address,
                                  .is_mapped = false,
                                  .is_expandable = true});
  insert_free(made);
  return made;
}

SimulatedAllocator::BlockId SimulatedAllocator::expand(Pool& pool, std::int64_t size) {
  BlockId room = expandable_room(pool, size);
  if (room == kNoBlock) return kNoBlock;
  if (!blocks_[room].is_mapped && !map(room, std::min(blocks_[room].bytes, size))) return kNoBlock;
  while (blocks_[room].bytes < size) {
    const BlockId next = blocks_[room].next;
    if (!map(next, std::min(size - blocks_[room].bytes, blocks_[next].bytes))) return kNoBlock;
    room = next;  // which took in what was free before it
  }
  erase_free(room);
  return room;
}

// Puts memory behind the first `size` bytes of an unmapped block, in whole pages.
bool SimulatedAllocator::map(BlockId id, std::int64_t size) {
  const std::int64_t page = blocks_[id].pool->page();
  const std::int64_t mapped = std::min((size + page - 1) / page * page, blocks_[id].bytes);
  if (totals_.reserved + mapped > limits_.device) return false;
  erase_free(id);
  blocks_[id].is_mapped = true;
  if (mapped < blocks_[id].bytes) {
    Block rest = blocks_[id];
    rest.address += static_cast<std::uint64_t>(mapped);
    rest.bytes -= mapped;
    rest.is_mapped = false;
    const BlockId added = new_block(rest);
    splice_after(id, added);
    insert_free(added);
    blocks_[id].bytes = mapped;
  }
  merge(id, blocks_[id].prev);
  merge(id, blocks_[id].next);
  insert_free(id);
  totals_.reserved += mapped;
  return true;
}

SimulatedAllocator::Held SimulatedAllocator::hand_out(Pool& pool, BlockId id, std::int64_t size,
                                                      std::int64_t requested) {
  if (is_split(blocks_[id].bytes, size, pool.is_small, settings_)) {
    Block front = blocks_[id];
    front.bytes = size;
    const BlockId rest = id;
    id = new_block(front);
    splice_before(rest, id);
    blocks_[rest].address += static_cast<std::uint64_t>(size);
    blocks_[rest].bytes -= size;
    insert_free(rest);
  }
  Block& block = blocks_[id];
  block.state = BlockState::kAllocated;
  block.requested = requested;
  totals_.allocated += block.bytes;
  totals_.active += block.bytes;
  totals_.requested += requested;
  return {id, ++block.serial};
}

bool SimulatedAllocator::is_held(Held held) const {
  return held && blocks_[held.block].serial == held.serial && blocks_[held.block].state != BlockState::kInactive;
}

void SimulatedAllocator::request_free(Held held) {
  if (!is_held(held) || blocks_[held.block].state == BlockState::kAwaitingFree) return;
  blocks_[held.block].state = BlockState::kAwaitingFree;
  totals_.allocated -= blocks_[held.block].bytes;
  awaiting_.push_back(held);
}

void SimulatedAllocator::complete_free(Held held) {
  if (is_held(held) && blocks_[held.block].state == BlockState::kAwaitingFree) make_free(held.block);
}

void SimulatedAllocator::free(Held held) {
  if (!is_held(held)) return;
  if (blocks_[held.block].state == BlockState::kAllocated) totals_.allocated -= blocks_[held.block].bytes;
  make_free(held.block);
}

void SimulatedAllocator::make_free(BlockId id) {
  Block& block = blocks_[id];
  totals_.active -= block.bytes;
  totals_.requested -= block.requested;
  block.state = BlockState::kInactive;
  block.requested = 0;
  ++block.serial;
  merge(id, block.prev);
  merge(id, block.next);
  insert_free(id);
}

std::vector<SimulatedAllocator::SeenBlock> SimulatedAllocator::blocks() const {
  std::vector<SeenBlock> seen;
  for (const Block& each : blocks_) {
    if (!each.exists || !each.is_mapped) continue;
    const Block* first = &each;
    while (first->prev != kNoBlock) first = &blocks_[first->prev];
    seen.push_back(
        {each.address, each.bytes, each.requested, each.pool->stream, first->address, each.pool->is_small, each.state});
  }
  std::ranges::sort(seen, {}, &SeenBlock::address);
  return seen;
}

}  // namespace telltale
