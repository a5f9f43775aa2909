#include "memory/memory_edit.h"

#include <algorithm>
#include <map>
#include <utility>

namespace telltale {
namespace {

using Key = std::pair<std::uint64_t, Nanoseconds>;

std::map<Key, BlockEdit> by_block(const MemoryEdit& edit) {
  std::map<Key, BlockEdit> found;
  for (const BlockEdit& each : edit.blocks) {
    const auto [place, is_new] = found.try_emplace(Key(each.address, each.allocated), each);
    if (is_new) continue;
    place->second.scale *= each.scale;
    place->second.away.insert(place->second.away.end(), each.away.begin(), each.away.end());
    std::optional<Nanoseconds>& since = place->second.there_since;
    if (each.there_since) since = std::min(since.value_or(*each.there_since), *each.there_since);
  }
  for (auto& [key, block] : found) {
    std::ranges::sort(block.away, {}, &Absence::from);
    std::vector<Absence> united;
    for (const Absence& each : block.away) {
      if (!united.empty() && each.from <= united.back().until)
        united.back().until = std::max(united.back().until, each.until);
      else
        united.push_back(each);
    }
    block.away = std::move(united);
  }
  return found;
}

// Frees come before what is made at the same time: see UsedBlock::lives_at().
struct Change {
  Nanoseconds time = 0;
  std::int64_t bytes = 0;
  std::size_t block = 0;
};

std::vector<Change> changes_with(std::span<const UsedBlock> blocks, const MemoryEdit& edit) {
  const std::map<Key, BlockEdit> edits = by_block(edit);
  std::vector<Change> changes;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const UsedBlock& block = blocks[i];
    const auto found = edits.find(Key(block.address, block.allocated));
    const double scale = found == edits.end() ? 1 : found->second.scale;
    const auto bytes = static_cast<std::int64_t>(static_cast<double>(block.bytes) * scale);
    const auto add = [&](Nanoseconds from, Nanoseconds to) {
      if (from >= to) return;
      changes.push_back({from, bytes, i});
      if (to != UsedBlock::kNever) changes.push_back({to, -bytes, i});
    };
    Nanoseconds from = block.allocated;
    if (found != edits.end()) {
      from = std::min(from, found->second.there_since.value_or(from));
      for (const Absence& away : found->second.away) {
        add(from, std::min(away.from, block.freed));
        from = std::max(from, away.until);
      }
    }
    add(from, block.freed);
  }
  std::ranges::stable_sort(changes, {}, [](const Change& each) { return std::pair(each.time, each.bytes > 0); });
  return changes;
}

// The first request that is not earlier.
std::size_t entry_at(const Trace& trace, Nanoseconds time) {
  const auto& events = trace.allocator_events;
  const auto found = std::ranges::lower_bound(events, time, {}, &AllocatorEvent::time);
  return found == events.end() ? kNoAllocatorEntry : static_cast<std::size_t>(found - events.begin());
}

}  // namespace

void MemoryEdit::send_away(const UsedBlock& block, Absence absence) {
  absence.from = std::max(absence.from, block.allocated);
  if (absence.until >= block.freed) absence.until = UsedBlock::kNever;
  if (absence.from < std::min(absence.until, block.freed))
    blocks.push_back({block.address, block.allocated, 1, {absence}, {}});
}

MemoryEdit joined(std::span<const MemoryEdit> edits) {
  MemoryEdit all;
  for (const MemoryEdit& edit : edits) {
    all.blocks.insert(all.blocks.end(), edit.blocks.begin(), edit.blocks.end());
    if (!edit.settings.empty()) all.settings += (all.settings.empty() ? "" : ",") + edit.settings;
    all.keeps_cache = all.keeps_cache || edit.keeps_cache;
    if (edit.stream) all.stream = edit.stream;
  }
  std::vector<BlockEdit> united;
  for (auto& [key, block] : by_block(all)) united.push_back(std::move(block));
  all.blocks = std::move(united);
  return all;
}

EditedPeak edited_peak(std::span<const UsedBlock> blocks, const MemoryEdit& edit, std::int64_t others,
                       std::int64_t limit) {
  EditedPeak peak{.allocated = others};
  std::int64_t now = others;
  for (const Change& change : changes_with(blocks, edit)) {
    if (change.bytes > 0 && now + change.bytes > limit && !peak.first_over) {
      peak.first_over = change.block;
      peak.allocated_before_first_over = now;
    }
    now += change.bytes;
    if (now <= peak.allocated) continue;
    peak.allocated = now;
    peak.time = change.time;
    peak.made = change.block;
  }
  return peak;
}

SimulatedEdit simulated_edit(const Trace& trace, const AllocatorRequests& requests, const MemoryEdit& edit) {
  std::map<Key, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < requests.start_blocks.size(); ++i)
    numbers.emplace(Key(requests.start_blocks[i], UsedBlock::kBeforeTheTrace), i);
  for (const AllocatorRequest& request : requests.list) {
    if (request.kind != AllocatorRequest::Kind::kAllocate) continue;
    const AllocatorEvent& event = trace.allocator_events[request.entry];
    numbers.emplace(Key(event.address, event.time), request.block);
  }
  SimulatedEdit simulated;
  simulated.scale.resize(requests.blocks, 1);
  for (const auto& [key, block] : by_block(edit)) {
    const auto found = numbers.find(key);
    if (found == numbers.end()) continue;
    simulated.scale[found->second] = block.scale;
    if (block.there_since) simulated.early.push_back({found->second, entry_at(trace, *block.there_since)});
    for (const Absence& away : block.away) {
      const std::size_t until = away.until == UsedBlock::kNever ? kNoAllocatorEntry : entry_at(trace, away.until);
      simulated.absences.push_back({found->second, entry_at(trace, away.from), until});
    }
  }
  std::ranges::stable_sort(simulated.absences, {}, &BlockAbsence::from);
  std::ranges::stable_sort(simulated.early, {}, &EarlyBlock::entry);
  return simulated;
}

}  // namespace telltale
