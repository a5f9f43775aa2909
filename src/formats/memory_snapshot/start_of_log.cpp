#include "formats/memory_snapshot/start_of_log.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace telltale::memory_snapshot {
namespace {

constexpr std::int64_t kMostBytes = INT64_MAX / 4;

void add(std::int64_t& total, std::int64_t bytes) { total = std::clamp<std::int64_t>(total + bytes, 0, kMostBytes); }

}  // namespace

std::vector<std::int64_t> rewind(const std::vector<AllocatorEvent>& entries, AllocatorState& state,
                                 Anomalies& anomalies) {
  std::vector<std::int64_t> block_bytes(entries.size());
  // Where a recording leaves one of the two out, the other stands for both.
  const bool has_requests =
      std::ranges::find(entries, AllocatorAction::kFreeRequested, &AllocatorEvent::action) != entries.end();
  for (std::size_t i = entries.size(); i-- > 0;) {
    AllocatorEvent entry = entries[i];
    if (!has_requests && entry.action == AllocatorAction::kFreeCompleted)
      entry.action = AllocatorAction::kFreeRequested;
    const AllocatorState::Step step = state.undo(entry);
    if (entry.action == AllocatorAction::kAllocate) block_bytes[i] = step.block_bytes;
    if (!step.fits) anomalies.add(Anomaly::kContradictingAllocatorEntry, i, std::string(name_of(entry.action)));
  }
  return block_bytes;
}

std::vector<BatchMemoryEvent> memory_rows(const std::vector<AllocatorEvent>& entries,
                                          const std::vector<std::int64_t>& block_bytes, const AllocatorState& start) {
  std::unordered_map<std::uint64_t, std::int64_t> live;
  std::int64_t allocated = 0, reserved = 0;
  for (const auto& [address, block] : start.blocks()) {
    if (block.state != BlockState::kAllocated) continue;
    live[address] = block.bytes;
    add(allocated, block.bytes);
  }
  for (const auto& [address, segment] : start.segments()) add(reserved, segment.bytes);

  std::vector<BatchMemoryEvent> rows;
  const auto add_row = [&](const AllocatorEvent& entry, std::int64_t bytes) {
    add(allocated, bytes);
    rows.push_back({.time = entry.time,
                    .device = entry.device,
                    .address = entry.address,
                    .bytes = bytes,
                    .total_allocated = allocated,
                    .total_reserved = reserved,
                    .pool = entry.pool});
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const AllocatorEvent& entry = entries[i];
    switch (entry.action) {
      case AllocatorAction::kAllocate: {
        const std::int64_t bytes = block_bytes[i] > 0 ? block_bytes[i] : rounded_request(entry.bytes, {});
        if (const auto [known, is_new] = live.try_emplace(entry.address, bytes); is_new) add_row(entry, bytes);
        break;
      }
      case AllocatorAction::kFreeRequested:
      case AllocatorAction::kFreeCompleted:
        if (const auto known = live.find(entry.address); known != live.end()) {
          add_row(entry, -known->second);
          live.erase(known);
        }
        break;
      case AllocatorAction::kSegmentAllocate:
      case AllocatorAction::kSegmentMap:
        add(reserved, entry.bytes);
        break;
      case AllocatorAction::kSegmentFree:
      case AllocatorAction::kSegmentUnmap:
        add(reserved, -entry.bytes);
        break;
      case AllocatorAction::kOutOfMemory:
      case AllocatorAction::kSnapshot:
        break;
    }
  }
  return rows;
}

}  // namespace telltale::memory_snapshot
