// What a reader hands to the builder: rows in the order of the file, with names local to the reading thread.
//
// A batch is filled by one thread. Strings and tracks in it are ids of the LocalNames that the thread filled it with;
// the builder translates them, in the order of the file, so that the result does not depend on how many threads read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
  bool operator==(const TrackKey&) const = default;
};

struct LocalNames {
  InternedStrings strings;
  std::vector<TrackKey> tracks;
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

struct BatchMemoryEvent {
  Nanoseconds time = 0;
  TrackId track = 0;
  DeviceId device = kHost;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t total_allocated = -1, total_reserved = -1;
};

struct BatchCounter {
  Nanoseconds time = 0;
  TrackId track = 0;
  StringId name = kEmptyString, series = kEmptyString;
  double value = 0;
};

// A flow's start, step or end. It binds to the event around it on its track or, for an end that asks for it, to
// the next event that starts there.
struct BatchFlowPoint {
  enum class Role : std::uint8_t { kStart, kStep, kEnd };
  Nanoseconds time = 0;
  TrackId track = 0;
  StringId name = kEmptyString, category = kEmptyString;
  StringId id = kEmptyString;    // when the file has text
  std::int64_t id_number = 0;    // otherwise
  std::uint64_t byte_offset = 0;
  Role role = Role::kStart;
  bool binds_to_next = false;
};

struct OperatorDetail {
  OperatorInputs inputs;
  std::int64_t sequence = OperatorInfo::kNoSequence;
  std::uint32_t forward_thread = 0;
};

struct EventBatch {
  const LocalNames* names = nullptr;
  std::vector<BatchEvent> events;
  std::vector<std::uint64_t> offsets;  // byte offset of each event, for anomalies found later
  std::vector<BatchLink> links;
  std::vector<BatchDetail<OperatorDetail>> operators;
  std::vector<BatchDetail<OperatorStack>> operator_stacks;
  std::vector<BatchDetail<KernelLaunch>> kernels;
  std::vector<BatchDetail<GraphNode>> graph_nodes;
  std::vector<BatchDetail<CopyInfo>> copies;
  std::vector<BatchDetail<SyncInfo>> syncs;
  std::vector<BatchDetail<CollectiveInfo>> collectives;
  std::vector<BatchDetail<StringId>> categories;
  std::vector<BatchDetail<StringId>> other_arguments;
  std::vector<BatchMemoryEvent> memory;
  std::vector<BatchCounter> counters;
  std::vector<BatchFlowPoint> flows;
  Anomalies anomalies;
};

}  // namespace telltale
