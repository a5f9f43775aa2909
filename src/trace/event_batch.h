// What a reader hands to the builder: rows in the order of the file, with names local to the reading thread.
//
// A batch is filled by one thread. Strings and tracks in it are ids of the LocalNames that the thread filled it with;
// the builder translates them, in the order of the file, so that the result does not depend on how many threads read.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interned_values.h"
#include "trace/row_ids.h"
#include "trace/trace.h"

namespace telltale {

// A pid or tid as the file writes it: a number, or text such as "Spans".
struct NativeId {
  std::int64_t number = 0;
  StringId text = kEmptyString;  // not empty: the file has text that is no number
  bool operator==(const NativeId&) const = default;
};

struct TrackKey {
  NativeId process, thread;
  TrackKind kind = TrackKind::kThread;
  DeviceId device = kHost;  // of a stream
  bool operator==(const TrackKey&) const = default;
};

inline std::uint64_t hash_value(const TrackKey& key) {
  std::uint64_t hash = hash_with(hash_with(0, static_cast<std::uint64_t>(key.process.number)), key.process.text);
  hash = hash_with(hash, static_cast<std::uint64_t>(key.thread.number));
  hash = hash_with(hash, std::uint64_t{key.thread.text} << 32 | static_cast<std::uint32_t>(key.device));
  return hash_with(hash, static_cast<std::uint64_t>(key.kind));
}

struct FlowKind {
  StringId category = kEmptyString, name = kEmptyString;
  bool operator==(const FlowKind&) const = default;
};

inline std::uint64_t hash_value(const FlowKind& kind) {
  return hash_with(0, std::uint64_t{kind.category} << 32 | kind.name);
}

// A pid and tid as flows name them; whether a thread or a stream is meant depends on where events stand.
struct FlowPlace {
  NativeId process, thread;
  bool operator==(const FlowPlace&) const = default;
};

inline std::uint64_t hash_value(const FlowPlace& place) { return hash_value(TrackKey{place.process, place.thread}); }

// What one reading thread numbers for itself: equal strings, tracks, operator inputs and launches are stored once.
// Texts in them are ids of `strings`.
struct LocalNames : SharedRows<InternedValues> {
  InternedStrings strings;
  InternedValues<TrackKey> tracks;
  InternedValues<FlowKind> flow_kinds;
  InternedValues<FlowPlace> flow_places;
};

struct BatchEvent {
  Nanoseconds start = 0;  // absolute, in the file's own clock
  Nanoseconds duration = 0;
  StringId name = kEmptyString;
  TrackId track = 0;
  Kind kind = Kind::kOther;
};

using BatchRow = std::uint32_t;  // index of EventBatch::events

// The ids that tie rows together, for the rows that carry any.
struct BatchLink {
  BatchRow row = 0;
  std::int64_t correlation = 0;  // 0: none
  std::int64_t external_id = 0;  // 0: none
};

template <typename Detail>
struct BatchDetail {
  BatchRow row = 0;
  Detail detail{};
};
template <typename Detail>
using BatchDetails = std::vector<BatchDetail<Detail>>;

struct BatchMemoryEvent {
  Nanoseconds time = 0;
  TrackId track = 0;
  DeviceId device = kHost;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t total_allocated = -1, total_reserved = -1;
  StringId pool = kEmptyString;
};

struct BatchCounter {
  Nanoseconds time = 0;
  TrackId track = 0;
  StringId name = kEmptyString, series = kEmptyString;
  double value = 0;
};

// A node of a CUDA graph, where a recorder noted it.
struct BatchCapturedNode {
  Nanoseconds time = 0;
  TrackId track = 0;
  std::int64_t node = 0;
  std::int64_t original = 0;  // the node that it was cloned from; 0: none
  StringId call_stack = kEmptyString;
};

// An entry of an allocator's log, without its event; times and texts as in all batches.
struct BatchAllocatorEvent {
  AllocatorEvent entry;
  TrackId track = 0;           // of the thread that did it
  bool is_state_mark = false;  // the segments and blocks of its device say what it held just then
};

struct BatchMemorySegment {
  MemorySegment segment;
  Nanoseconds time = 0;  // when it was noted
};

// Its index is not known yet.
struct BatchMemoryBlock {
  MemoryBlock block;
  std::uint64_t segment_address = 0;
  DeviceId device = 0;
};

enum class FlowRole : std::uint8_t { kStart, kStep, kEnd };

// A flow's start, step or end. It binds to the event around it at its place or, for an end that asks for it, to the
// next event that starts there.
struct BatchFlowPoint {
  Nanoseconds time = 0;
  std::uint64_t byte_offset = 0;
  std::int64_t id_number = 0;
  StringId id = kEmptyString;  // when the file has text
  std::uint32_t kind = 0;      // index of LocalNames::flow_kinds
  std::uint32_t place = 0;     // index of LocalNames::flow_places
  FlowRole role = FlowRole::kStart;
  bool binds_to_next = false;
};

// Texts and numbers of shared rows in its side tables are those of `names`.
struct EventBatch : SideTables<BatchDetails> {
  const LocalNames* names = nullptr;
  std::vector<BatchEvent> events;
  std::vector<std::uint64_t> offsets;  // byte offset of each event, for anomalies found later
  std::vector<BatchLink> links;
  std::vector<BatchMemoryEvent> memory;
  std::vector<BatchCounter> counters;
  std::vector<BatchFlowPoint> flows;
  std::vector<BatchCapturedNode> captured_nodes;
  std::vector<BatchAllocatorEvent> allocator_events;
  std::vector<BatchMemorySegment> memory_segments;
  std::vector<BatchMemoryBlock> memory_blocks;
  std::vector<NotedTensor> noted_tensors;
  Anomalies anomalies;
};

}  // namespace telltale
