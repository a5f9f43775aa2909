#include "trace/allocator_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/merge_runs.h"
#include "trace/nesting.h"
#include "trace/row_ids.h"

namespace telltale {
namespace {

struct PlacedEntry {
  AllocatorEvent entry;
  std::optional<TrackId> track;
  bool is_state_mark = false;
};

// When the log of a device begins, where its state was taken: at the mark or, without one, when the state was written.
using LogStarts = std::map<DeviceId, Nanoseconds>;

LogStarts log_starts(std::span<const PlacedEntry> entries, std::span<const BatchMemorySegment> segments) {
  LogStarts starts;
  for (const PlacedEntry& placed : entries)
    if (placed.is_state_mark) starts.try_emplace(placed.entry.device, placed.entry.time);
  LogStarts written;
  for (const BatchMemorySegment& each : segments) {
    const auto [at, is_new] = written.try_emplace(each.segment.device, each.time);
    if (!is_new) at->second = std::min(at->second, each.time);
  }
  starts.merge(written);
  return starts;
}

std::vector<PlacedEntry> placed_entries(std::span<const EventBatch> batches, Translator& translator,
                                        Nanoseconds origin) {
  std::vector<PlacedEntry> entries;
  for (const EventBatch& batch : batches) {
    translator.select(*batch.names);
    for (const BatchAllocatorEvent& event : batch.allocator_events) {
      PlacedEntry placed{event.entry, translator.known_track(event.track), event.is_state_mark};
      placed.entry.time -= origin;
      change_ids(placed.entry, RowOf<AllocatorEvent>{}, translator);
      entries.push_back(placed);
    }
  }
  merge_runs(std::span(entries),
             [](const PlacedEntry& a, const PlacedEntry& b) { return a.entry.time < b.entry.time; });
  return entries;
}

void add_log(std::span<const PlacedEntry> entries, const LogStarts& starts, Trace& trace) {
  const OpenRows open_rows(trace.events);
  std::vector<EventId> hints(trace.tracks.size(), 0);
  std::map<DeviceId, bool> has_begun;
  for (const PlacedEntry& placed : entries) {
    AllocatorEvent entry = placed.entry;
    if (const auto start = starts.find(entry.device); start != starts.end()) {
      bool& is_in_log = has_begun[entry.device];
      is_in_log |= placed.is_state_mark || entry.time > start->second;
      if (!is_in_log) continue;
    }
    if (placed.track)
      entry.event = open_rows.innermost_at(trace.tracks[*placed.track], entry.time, hints[*placed.track]);
    trace.allocator_events.push_back(entry);
  }
}

// ---- What they held ----

std::vector<BatchMemorySegment> all_segments(std::span<const EventBatch> batches, Translator& translator,
                                             Nanoseconds origin) {
  std::vector<BatchMemorySegment> segments;
  for (const EventBatch& batch : batches) {
    translator.select(*batch.names);
    for (BatchMemorySegment each : batch.memory_segments) {
      each.time -= origin;
      change_ids(each.segment, RowOf<MemorySegment>{}, translator);
      segments.push_back(each);
    }
  }
  const auto place = [](const BatchMemorySegment& each) {
    return std::pair(each.segment.device, each.segment.address);
  };
  std::ranges::stable_sort(segments, {}, place);
  const auto repeated = std::ranges::unique(segments, {}, place);  // of a second state: the log continues the first
  segments.erase(repeated.begin(), repeated.end());
  return segments;
}

// The parts of one segment in the order of their addresses, without holes and overlaps.
void add_parts(const MemorySegment& segment, std::uint32_t index, std::span<const BatchMemoryBlock> parts,
               std::vector<MemoryBlock>& blocks) {
  const auto size = static_cast<std::uint64_t>(segment.bytes);
  std::uint64_t filled = 0;
  const auto fill_to = [&](std::uint64_t offset) {
    if (offset <= filled) return;
    MemoryBlock hole;
    hole.segment = index;
    hole.address = segment.address + filled;
    hole.bytes = static_cast<std::int64_t>(offset - filled);
    blocks.push_back(hole);
    filled = offset;
  };
  for (const BatchMemoryBlock& part : parts) {
    const std::uint64_t offset = part.block.address - segment.address;
    const auto bytes = static_cast<std::uint64_t>(part.block.bytes);
    if (part.block.address < segment.address || offset < filled || offset > size || bytes > size - offset) continue;
    fill_to(offset);
    blocks.push_back(part.block);
    blocks.back().segment = index;
    filled += bytes;
  }
  fill_to(size);
}

void add_state(std::span<const EventBatch> batches, std::span<const BatchMemorySegment> segments, Trace& trace) {
  std::vector<BatchMemoryBlock> parts;
  for (const EventBatch& batch : batches)
    parts.insert(parts.end(), batch.memory_blocks.begin(), batch.memory_blocks.end());
  using Place = std::tuple<DeviceId, std::uint64_t>;
  const auto segment_of = [](const BatchMemoryBlock& part) { return Place(part.device, part.segment_address); };
  std::ranges::stable_sort(parts, {}, [&](const BatchMemoryBlock& part) {
    return std::tuple_cat(segment_of(part), std::tuple(part.block.address));
  });
  for (const BatchMemorySegment& each : segments) {
    const auto index = static_cast<std::uint32_t>(trace.memory_segments.size());
    trace.memory_segments.push_back(each.segment);
    const auto own = std::ranges::equal_range(parts, Place(each.segment.device, each.segment.address), {}, segment_of);
    add_parts(each.segment, index, std::span(own.begin(), own.end()), trace.memory_blocks);
  }
}

void add_noted_tensors(std::span<const EventBatch> batches, Translator& translator, Nanoseconds origin, Trace& trace) {
  for (const EventBatch& batch : batches) {
    translator.select(*batch.names);
    for (NotedTensor noted : batch.noted_tensors) {
      noted.time -= origin;
      change_ids(noted, RowOf<NotedTensor>{}, translator);
      trace.noted_tensors.push_back(noted);
    }
  }
  merge_runs(std::span(trace.noted_tensors),
             [](const NotedTensor& a, const NotedTensor& b) { return a.time < b.time; });
}

}  // namespace

Nanoseconds first_allocator_row(const EventBatch& batch) {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  for (const BatchAllocatorEvent& event : batch.allocator_events) first = std::min(first, event.entry.time);
  for (const NotedTensor& noted : batch.noted_tensors) first = std::min(first, noted.time);
  return first;
}

void add_allocator_rows(std::span<const EventBatch> batches, Translator& translator, Nanoseconds origin, Trace& trace) {
  const std::vector<BatchMemorySegment> segments = all_segments(batches, translator, origin);
  const std::vector<PlacedEntry> entries = placed_entries(batches, translator, origin);
  if (!entries.empty()) add_log(entries, log_starts(entries, segments), trace);
  add_state(batches, segments, trace);
  add_noted_tensors(batches, translator, origin, trace);
}

}  // namespace telltale
