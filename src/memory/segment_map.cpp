#include "memory/segment_map.h"

#include <algorithm>
#include <unordered_map>

#include "memory/allocator_walk.h"

namespace telltale {

std::vector<MappedSegment> segment_map(const Trace& trace, DeviceId device, Nanoseconds time,
                                       std::span<const UsedBlock> blocks) {
  const auto devices = allocator_devices(trace);
  if (std::ranges::find(devices, device) == devices.end()) return {};
  AllocatorWalk walk(trace, device);
  const auto behind = std::ranges::find_if(
      trace.allocator_events, [&](const AllocatorEvent& event) { return event.device == device && event.time > time; });
  if (behind != trace.allocator_events.begin())
    walk.apply_through(static_cast<std::size_t>(behind - trace.allocator_events.begin()) - 1);
  std::unordered_map<std::uint64_t, std::size_t> block_at;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].lives_at(time)) block_at[blocks[i].address] = i;

  std::vector<MappedSegment> mapped;
  auto block = walk.blocks().begin();
  for (const auto& [address, segment] : walk.segments()) {
    MappedSegment found{.address = address, .bytes = segment.bytes, .stream = segment.stream, .pool = segment.pool};
    while (block != walk.blocks().end() && block->first < address) ++block;
    for (; block != walk.blocks().end() && block->first < segment.end(); ++block) {
      MappedBlock part{.offset = static_cast<std::int64_t>(block->first - address), .bytes = block->second.bytes};
      part.state = block->second.state;
      if (block->second.is_live()) {
        part.call_stack = block->second.call_stack;
        const auto used = block_at.find(block->first);
        if (used != block_at.end()) part.block = used->second;
        part.use = part.block ? blocks[*part.block].use_at(time) : MemoryUse::kOther;
        found.used += part.bytes;
      }
      found.blocks.push_back(part);
    }
    mapped.push_back(std::move(found));
  }
  return mapped;
}

}  // namespace telltale
