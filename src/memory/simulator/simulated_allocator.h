// PyTorch's caching allocator of one device, simulated: which segments it would take for a sequence of requests, and
// how its blocks would lie in them.
//
// The rules are those of c10/cuda/CUDACachingAllocator.cpp; the settings are in allocator_settings.h. Requests are
// served from cached blocks of their pool and stream, best fit first; then from new segments; then, when the device is
// full, after cached blocks were given back. Addresses are made up. A request costs the logarithm of the number of
// free blocks. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "memory/allocator_settings.h"
#include "memory/allocator_walk.h"

namespace telltale {

struct SimulatorLimits {
  static constexpr std::int64_t kNone = std::int64_t{1} << 61;
  std::int64_t device = kNone;          // what the allocator can get: the device's memory without what others use
  std::optional<std::int64_t> allowed;  // by torch.cuda.set_per_process_memory_fraction()
  std::int64_t address_space = std::int64_t{1} << 40;  // of an expandable segment
  // Whether the device puts each new segment below those before it, and not above: of free blocks of one size, the
  // allocator takes the one with the lowest address.
  bool segments_descend = false;
};

class SimulatedAllocator {
 public:
  // A block as long as the program holds it. Another block may take its place later, with another serial number.
  struct Held {
    std::uint32_t block = UINT32_MAX;
    std::uint32_t serial = 0;
    explicit operator bool() const { return block != UINT32_MAX; }
  };

  explicit SimulatedAllocator(const AllocatorSettings& settings, SimulatorLimits limits = {});
  ~SimulatedAllocator();
  SimulatedAllocator(SimulatedAllocator&&) noexcept;

  // Takes over segments with their blocks as they lie, and says which blocks are live, by address.
  std::map<std::uint64_t, Held> adopt(const AllocatorWalk& state);

  // Nothing: out of memory. `pool` is kEmptyString but for private ones.
  Held allocate(std::int64_t requested, std::uint64_t stream, StringId pool = kEmptyString);
  // Work of other streams still uses the block: it is free after complete_free(), or when the allocator waits for all.
  void request_free(Held held);
  void complete_free(Held held);  // nothing when it is free already
  void free(Held held);
  void empty_cache();
  // No CUDA graph needs the private pool any more: its segments may be given back.
  void release_pool(StringId pool) { released_pools_.insert(pool); }

  const AllocatorTotals& totals() const { return totals_; }
  std::int64_t retries() const { return retries_; }  // requests for which the cache had to be emptied

  struct SeenBlock {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t requested = 0;
    std::uint64_t stream = 0;
    std::size_t segment = 0;  // the address where the chain of blocks begins
    bool is_small = false;
    BlockState state = BlockState::kInactive;
  };
  std::vector<SeenBlock> blocks() const;  // those with memory behind them, by address

 private:
  struct Block;
  struct Pool;
  using BlockId = std::uint32_t;
  static constexpr BlockId kNoBlock = UINT32_MAX;
  static constexpr std::uint64_t kTop = std::uint64_t{1} << 62;  // of the addresses of segments that descend
  using PoolKey = std::tuple<StringId, bool, std::uint64_t>;     // private pool, whether small, stream

  Pool& pool_of(StringId pool, bool is_small, std::uint64_t stream);
  BlockId new_block(const Block& block);
  BlockId find_free(Pool& pool, std::int64_t size);
  BlockId take_segment(Pool& pool, std::int64_t size);
  BlockId expand(Pool& pool, std::int64_t size);
  BlockId expandable_room(Pool& pool, std::int64_t size);
  bool map(BlockId block, std::int64_t size);
  Held hand_out(Pool& pool, BlockId block, std::int64_t size, std::int64_t requested);
  bool is_held(Held held) const;
  void make_free(BlockId block);
  void insert_free(BlockId block);
  void erase_free(BlockId block);
  void merge(BlockId into, BlockId other);
  bool is_available(BlockId block) const;
  void splice_after(BlockId block, BlockId added);
  void splice_before(BlockId block, BlockId added);
  void collect_garbage();
  bool release_oversize(Pool& pool, std::int64_t size);
  void release_cached();
  void release_all_of(Pool& pool);
  void release(BlockId block);
  void adopt_segment(const WalkedSegment& segment, const AllocatorWalk& state, BlockId& last,
                     std::map<std::uint64_t, Held>& live);
  void unmap(BlockId block);
  void recycle(BlockId block) { unused_.push_back(block); }
  std::uint64_t take_addresses(std::int64_t bytes);
  std::uint64_t place_segment(std::int64_t bytes);

  AllocatorSettings settings_;
  SimulatorLimits limits_;
  std::unique_ptr<std::pmr::unsynchronized_pool_resource> nodes_;
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;
  std::map<PoolKey, Pool> pools_;
  std::map<std::pair<StringId, bool>, std::int64_t> searches_;  // by private pool and size, while garbage is collected
  std::set<StringId> released_pools_;
  std::vector<Held> awaiting_;  // and others that are free by now
  AllocatorTotals totals_;
  std::uint64_t next_address_ = std::uint64_t{20} * kMebibyte;
  std::uint64_t lowest_segment_ = kTop;
  std::int64_t retries_ = 0;
  Pool* last_pool_ = nullptr;
};

}  // namespace telltale
